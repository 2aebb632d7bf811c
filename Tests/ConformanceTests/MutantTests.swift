import Foundation
import PolystoreConformance
import PolystoreInMemory
import PolystoreSQLite
import PolystoreStorage
import Testing

/// The suite is itself tested: every store that is broken on purpose is caught by the case that its defect names.
@Suite struct MutantTests {
    /// A harness over stores with a defect: in memory, or in files where a case opens its store again.
    private func harness(_ defect: MutantStore.Defect, for item: ConformanceCase) throws -> StoreHarness {
        try StoreHarness {
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("polystore-mutant-\(UUID().uuidString).db")
            let isInFile = item.needs.contains(.persistent)
            return StorePlace(
                store: { name in
                    MutantStore(
                        isInFile ? SQLiteStore(path: file.path, configuration: name) : InMemoryStore(configuration: name), defect)
                }, remove: { if isInFile { try? SQLiteStore(path: file.path).erase() } })
        }
    }

    @Test(arguments: MutantStore.Defect.allCases) func theSuiteCatches(_ defect: MutantStore.Defect) throws {
        let item = try #require(ConformanceSuite.cases.first { $0.id == defect.rawValue })
        let status = try item.run(harness(defect, for: item)).status
        #expect(status == .fail || status == .error)
    }

    /// It is the defect that is noticed, not that the store is another one's shell.
    @Test(arguments: MutantStore.Defect.allCases) func aStoreWithAnotherDefectPasses(_ defect: MutantStore.Defect) throws {
        let item = try #require(ConformanceSuite.cases.first { $0.id == defect.rawValue })
        let other: MutantStore.Defect = item.id.hasPrefix("M") || item.id.hasPrefix("S") ? .sumOfNothingIsNil : .commitsHalfSteps
        let result = try item.run(harness(other, for: item))
        #expect(result.status == .pass, "\(result.messages)")
    }

    @Test func caseNamesAreUnique() {
        #expect(Set(ConformanceSuite.cases.map(\.id)).count == ConformanceSuite.cases.count)
    }

    @Test func theSuiteIsLarge() { #expect(ConformanceSuite.cases.count >= 150) }
}
