import PolystoreConformance
import PolystoreInMemory
import PolystoreStorage
import Testing

/// The suite is itself tested: every store that is broken on purpose is caught by the case that its defect names.
@Suite struct MutantTests {
    @Test(arguments: MutantStore.Defect.allCases) func theSuiteCatches(_ defect: MutantStore.Defect) throws {
        let harness = try StoreHarness {
            StorePlace(store: { MutantStore(InMemoryStore(configuration: $0), defect) }, remove: {})
        }
        let item = try #require(ConformanceSuite.cases.first { $0.id == defect.rawValue })
        let status = item.run(harness).status
        #expect(status == .fail || status == .error)
    }

    @Test func caseNamesAreUnique() {
        #expect(Set(ConformanceSuite.cases.map(\.id)).count == ConformanceSuite.cases.count)
    }

    @Test func theSuiteIsLarge() { #expect(ConformanceSuite.cases.count >= 150) }
}
