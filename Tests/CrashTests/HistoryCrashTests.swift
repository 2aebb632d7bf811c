import Foundation
import Polystore
import PolystoreCatalog
import RawSessions
import Testing

/// The history and its data come and go together: after a kill, and while several programs write.
@Suite(.serialized) struct HistoryCrashTests {
    private static let server = ProcessInfo.processInfo.environment["POLYSTORE_TEST_POSTGRES"]
    private static let kinds = ["sqlite", "lmdb", "postgresql"].filter { server != nil || $0 != "postgresql" }
    private static let kills = (Int(ProcessInfo.processInfo.environment["POLYSTORE_TEST_KILLS"] ?? "") ?? 12) / 2

    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("polystore-history-\(UUID().uuidString)")

    /// Works with a place for a store.
    private func withPlace(_ kind: String, _ body: (String) throws -> Void) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let url =
            kind == "postgresql"
            ? (Self.server ?? "") + "&x-schema=history_\(folder.lastPathComponent.suffix(12).lowercased())"
            : "\(kind):\(folder.path)/store.\(kind)"
        defer {
            try? StoreCatalog.standard.store(at: StoreURL(url), configuration: nil).erase()
            try? FileManager.default.removeItem(at: folder)
        }
        try body(url)
    }

    private func open(_ url: String) throws -> any StorageInterface {
        let store = try StoreCatalog.standard.store(at: StoreURL(url), configuration: nil)
        let schema = try Schema(entities: [Entity("Note", attributes: [Attribute("number", .int64)])])
        _ = try store.open(OpenRequest(schema: schema))
        return store
    }

    /// The keys that the history tells of, in its order, and those that are there.
    private func keys(_ store: any StorageInterface, since token: HistoryToken? = nil) throws -> (told: [Int64], there: Set<Int64>) {
        let reader = try store.beginRead()
        defer { reader.end() }
        let entries = try reader.history(since: token, limit: 100_000)
        let batch = RowBatch(capacity: 1024), cursor = try reader.cursor(for: FetchPlan(Schema(json: schemaJSON), 0))
        var there: Set<Int64> = []
        while try cursor.next(into: batch) { for index in 0..<batch.count { there.insert(batch.key(index)) } }
        return (entries.flatMap { $0.changes.map(\.key) }, there)
    }

    private let schemaJSON = #"{"entities": [{"name": "Note", "attributes": [{"name": "number", "type": "int64"}]}]}"#

    @Test(arguments: kinds) func aKillLeavesNoEntryWithoutItsDataAndNoDataWithoutItsEntry(_ kind: String) throws {
        try withPlace(kind) { url in
            try open(url).close()
            for _ in 0..<Self.kills {
                let process = Process(), output = Pipe()
                process.executableURL = Helper.program
                process.arguments = ["--record", url, "100000"]
                process.standardOutput = output
                try process.run()
                _ = try output.fileHandleForReading.read(upToCount: 1)
                Thread.sleep(forTimeInterval: Double.random(in: 0...0.03))
                kill(process.processIdentifier, SIGKILL)
                process.waitUntilExit()
                #expect(process.terminationReason == .uncaughtSignal)
                let acknowledged = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
                    .split(separator: "\n").count
                let store = try open(url)
                defer { try? store.close() }
                var found = try keys(store)
                // A server may still be busy with the last commit of the dead.
                for _ in 0..<100 where found.told.count != found.there.count {
                    Thread.sleep(forTimeInterval: 0.02)
                    found = try keys(store)
                }
                #expect(Set(found.told) == found.there && found.told.count == found.there.count)
                #expect(found.told.count >= acknowledged)
            }
        }
    }

    @Test(arguments: kinds) func severalProgramsShareOneHistory(_ kind: String) throws {
        try withPlace(kind) { url in
            let store = try open(url)
            defer { try? store.close() }
            let programs = try (0..<3).map { _ in try HelperProcess(["--record", url, "30"]) }
            var told: [Int64] = [], token: HistoryToken?
            for _ in 0..<3000 where told.count < 90 {
                let reader = try store.beginRead()
                defer { reader.end() }
                let page = try reader.history(since: token, limit: 10)
                told += page.flatMap { $0.changes.map(\.key) }
                token = page.last?.token ?? token
                if page.isEmpty { Thread.sleep(forTimeInterval: 0.01) }
            }
            for program in programs { #expect(try program.rest().count == 30) }
            let there = try keys(store).there
            #expect(told.count == 90 && Set(told) == there)
        }
    }
}
