import Foundation
import PolystoreCatalog
import PolystoreConformance
import PolystoreInMemory
import PolystoreSQLite
import PolystoreStorage
import Synchronization
import Testing

/// What the runner finds by a pattern, and a place where no store can be.
@Suite struct CommandTests {
    @Test func aPatternSelectsCases() throws {
        #expect(ConformanceRunner(only: ["ZZZ*"]).cases.isEmpty)
        #expect(ConformanceRunner(only: ["N001.an-update-alone"]).cases.map(\.id) == ["N001.an-update-alone"])
        let several = ConformanceRunner(only: ["H0*", "N001.an-update-alone", "ZZZ*"]).cases.map(\.id)
        #expect(Set(several) == Set(ConformanceRunner(only: ["H0*"]).cases.map(\.id) + ["N001.an-update-alone"]))
        #expect(ConformanceRunner().cases.count == ConformanceSuite.cases.count)
    }

    /// A store that claims what no case could test is not reported as one that keeps the contract.
    @Test func aCapabilityWhoseCasesWereAllSkippedIsNamed() throws {
        let harness = try StoreHarness.scratch("memory:", opener: StoreCatalog.standard)
        let skipped = ConformanceRunner(only: ["N013.a-commit-of-another-instance-is-reported"]).run("memory:", harness)
        #expect(skipped.results.allSatisfy { $0.status == .skipped })
        #expect(skipped.untested == ["history"])
        #expect(!skipped.isGreen)
        #expect(skipped.closingLine.hasSuffix("; claimed but not tested: history"))
        let tested = ConformanceRunner(only: ["H0*"]).run("memory:", harness)
        #expect(tested.untested.isEmpty)
    }

    /// The cases that only read share a store in a run, and outside of a run while several of them are active. None is left.
    @Test func casesThatOnlyReadShareAStore() throws {
        let counts = Mutex((made: 0, removed: 0))
        let harness = try StoreHarness {
            counts.withLock { $0.made += 1 }
            return StorePlace(store: { InMemoryStore(configuration: $0) }, remove: { counts.withLock { $0.removed += 1 } })
        }
        #expect(counts.withLock { $0 } == (1, 1))
        let runner = ConformanceRunner(only: ["P001*"])
        #expect(runner.cases.count > 30)
        for number in 1...2 {
            #expect(runner.run("memory:", harness, jobs: number).isGreen)
            #expect(counts.withLock { $0 } == (1 + number, 1 + number))
        }
        for item in runner.cases.prefix(3) { #expect(item.run(harness).status == .pass) }
        #expect(counts.withLock { $0 } == (6, 6))
    }

    /// A store that somebody has is not what scratch stores are made of.
    @Test(arguments: ["sqlite", "lmdb"]) func aPathOfARunIsAFolder(scheme: String) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("polystore 100% \(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = try #require(folder.path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed))
        func content() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder.path) }
        let harness = try StoreHarness.scratch("\(scheme)://\(path)", opener: StoreCatalog.standard)
        let result = ConformanceRunner(only: ["N005.random-commits-to-two-stores"]).run(scheme, harness)
        #expect(result.isGreen)
        #expect(try content() == [])
        for name in ["mine", "missing"] {
            if name == "mine" { try Data("mine".utf8).write(to: folder.appendingPathComponent(name)) }
            let error = #expect(throws: StorageError.self) {
                _ = try StoreHarness.scratch("\(scheme)://\(path)/\(name)", opener: StoreCatalog.standard)
            }
            #expect(error?.code == .notFound)
        }
        #expect(try content() == ["mine"])
        #expect(try Data(contentsOf: folder.appendingPathComponent("mine")) == Data("mine".utf8))
    }

    /// What a variable stands for is no more used as it is than a URL.
    @Test func aServerThatAVariableNamesGetsASchemaOfItsOwn() throws {
        let place = try StorePlace.scratch("env:POLYSTORE_TEST_RUN", opener: Schemas())
        let error = #expect(throws: StorageError.self) { _ = try place.store(nil) }
        #expect(error?.message.hasPrefix("postgresql polystore_conformance_") == true)
    }

    /// Says which schema of which kind of store it is asked for.
    private struct Schemas: StoreOpener {
        let schemes: [String] = []

        func store(at url: StoreURL, configuration: String?) throws(StorageError) -> any StorageInterface {
            throw StorageError(.unsupported, "\(url.scheme) \(url.option("x-schema") ?? "")")
        }
    }

    @Test(arguments: [false, true]) func aFolderIsNotADatabase(isReadOnly: Bool) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("polystore-folder-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let request = OpenRequest(schema: isReadOnly ? nil : .empty, readOnly: isReadOnly), store = SQLiteStore(path: folder.path)
        let error = #expect(throws: StorageError.self) { _ = try store.open(request) }
        #expect(error?.code == .notADatabase)
    }
}
