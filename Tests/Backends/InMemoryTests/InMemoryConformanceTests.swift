import Foundation
import PolystoreCatalog
import PolystoreConformance
import Testing

@Suite struct InMemoryConformanceTests {
    static let harness = Result {
        try StoreHarness.scratch(
            "memory:", beside: ["sqlite:", "lmdb:", ProcessInfo.processInfo.environment["POLYSTORE_TEST_POSTGRES"]].compactMap { $0 },
            opener: StoreCatalog.standard)
    }

    @Test(arguments: ConformanceSuite.cases.filter { !$0.needsQuiet }) func keepsTheContract(_ item: ConformanceCase) throws {
        let result = item.run(try Self.harness.get())
        #expect(result.status == .pass || result.status == .skipped, "\(result.messages.joined(separator: "\n"))")
    }
}
