import PolystoreCatalog
import PolystoreConformance
import Testing

@Suite(.enabled(if: TestServer.url != nil, "needs a PostgreSQL server; .ci/run starts one")) struct PostgreSQLConformanceTests {
    static let harness = Result {
        try StoreHarness.scratch(TestServer.url ?? "", beside: ["memory:", "sqlite:", "lmdb:"], opener: StoreCatalog.standard)
    }

    @Test(arguments: ConformanceSuite.cases.filter { !$0.needsQuiet }) func keepsTheContract(_ item: ConformanceCase) throws {
        let result = item.run(try Self.harness.get())
        #expect(result.status == .pass || result.status == .skipped, "\(result.messages.joined(separator: "\n"))")
    }
}
