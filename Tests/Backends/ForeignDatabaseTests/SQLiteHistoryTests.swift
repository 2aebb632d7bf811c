import Foundation
import PolystoreCatalog
import PolystoreStorage
import RawSessions
import Testing

/// What becomes of the history of a file where a commit fails and where an entry is damaged; another program sees to both.
@Suite struct SQLiteHistoryTests {
    private let path = ForeignDatabases.path(".sqlite")

    private func with<R>(_ options: String = "", _ body: (any StorageInterface) throws -> R) throws -> R {
        let store = try StoreCatalog.standard.store(at: StoreURL("sqlite:\(path)\(options)"))
        _ = try store.open(OpenRequest(schema: Schema(entities: [Entity("Note", attributes: [Attribute("number", .int64)])])))
        defer { try? store.close() }
        return try body(store)
    }

    private func write(_ store: any StorageInterface, author: String = "") throws -> HistoryToken? {
        let writer = try store.beginWrite(WriteOptions())
        defer { writer.end() }
        let key = try writer.reserveKeys(0, count: 1).lowerBound
        let row = RowSource(count: 1) { _, batch in batch.appendRow(key: key, version: 1, entity: 0, slots: 1)[0] = .int(1) }
        try writer.apply(ChangeSet(entities: [EntityChanges(entity: 0, inserts: row)]))
        return try writer.commit(CommitRecord(author: author))
    }

    private func history(_ store: any StorageInterface, since token: HistoryToken? = nil) throws -> [HistoryToken?] {
        let reader = try store.beginRead()
        defer { reader.end() }
        return try reader.history(since: token, limit: 10).map(\.token)
    }

    private func sql(_ text: String) throws { try ForeignDatabases.run("sqlite3", ["-bail", path], text) }

    @Test func aCommitThatFailsDoesNotResumeTheHistory() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let before = try with { try write($0) }
        _ = try with("?history=off") { try write($0) }
        try sql(
            "CREATE TRIGGER refusal AFTER INSERT ON polystore_history WHEN NEW.author = 'x' BEGIN SELECT RAISE(ABORT, 'refused'); END;")
        try with { store in
            #expect(failure { _ = try write(store, author: "x") } != nil)
            let next = try write(store), last = try write(store), all = try history(store)
            #expect(next != nil && all == [next, last])
            #expect(failure { _ = try history(store, since: before) }?.code == .tokenExpired)
        }
    }

    @Test func nothingIsAfterTheGreatestToken() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        try with { store in
            let token = try #require(try write(store))
            #expect(try history(store, since: HistoryToken(store: token.store, position: .max)).isEmpty)
        }
    }

    @Test(arguments: ["01070201", "0400050201", "020020000201", "05000201010900"]) func changesOfItemsOutsideOfTheModelAreCorrupted(
        _ changes: String
    ) throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        _ = try with { try write($0) }
        try sql("UPDATE polystore_history SET changes = x'\(changes)';")
        try with { store in
            let error = failure { _ = try history(store) }
            #expect(error?.code == .corrupted && error?.message == "an entry of the history is damaged; restore the store from a backup")
        }
    }
}
