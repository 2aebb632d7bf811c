import Foundation
import Polystore
import PolystoreCatalog
import RawSessions
import Testing

/// A server that follows another one.
@Suite(.serialized) struct StandbyTests {
    private func open(_ url: String) throws -> any StorageInterface {
        let store = try StoreCatalog.standard.store(at: StoreURL(url), configuration: nil)
        _ = try store.open(OpenRequest(schema: Schema(entities: [Entity("Note", attributes: [Attribute("text", .string)])])))
        return store
    }

    @Test func aStandbyIsReadOnly() throws {
        guard let server = OwnServer() else { return }
        defer { server.remove() }
        let store = try open(server.url), writer = try store.beginWrite(WriteOptions())
        defer { try? store.close() }
        try writer.setNote("note", Data([1]))
        _ = try writer.commit(CommitRecord())
        try server.startStandby()
        let standby = try open(server.standbyURL), reader = try standby.beginRead()
        #expect(try reader.note("note") == Data([1]))
        reader.end()
        let refusal = #expect(throws: StorageError.self) { try standby.beginWrite(WriteOptions()).end() }
        #expect(refusal?.code == .readOnly && refusal?.isRetryable == false)
        try standby.close()
    }

    /// A standby does not list the transactions in progress.
    @Test func aStandbyWithholdsWhatAnOlderWriterCanPrecede() throws {
        guard let server = OwnServer() else { return }
        defer { server.remove() }
        let store = try open(server.url)
        defer { try? store.close() }
        func begin() throws -> any StorageWriter {
            let writer = try store.beginWrite(WriteOptions()), key = try writer.reserveKeys(0, count: 1).lowerBound
            let row = RowSource(count: 1) { _, batch in
                batch.appendRow(key: key, version: 1, entity: 0, slots: 1)[0] = batch.cell(for: .string("note"))
            }
            try writer.apply(ChangeSet(entities: [EntityChanges(entity: 0, inserts: row)]))
            return writer
        }
        func commit(_ writer: any StorageWriter) throws -> HistoryToken? {
            defer { writer.end() }
            return try writer.commit(CommitRecord())
        }
        let first = try commit(try begin())
        try server.startStandby()
        let standby = try open(server.standbyURL)
        defer { try? standby.close() }
        func tokens(_ wanted: Int) throws -> [HistoryToken?] {
            let reader = try standby.beginRead { reader throws(StorageError) in try reader.history(since: nil, limit: 10).count >= wanted }
            defer { reader.end() }
            return try reader.history(since: nil, limit: 10).map(\.token)
        }
        #expect(try tokens(1) == [first])
        let older = try begin(), newer = try commit(try begin())
        // The standby has received both when it has the commit of a third one.
        let note = try store.beginWrite(WriteOptions())
        try note.setNote("sent", Data([1]))
        _ = try commit(note)
        let reader = try standby.beginRead { reader throws(StorageError) in try reader.note("sent") != nil }
        #expect(try reader.history(since: nil, limit: 10).map(\.token) == [first])
        reader.end()
        let late = try commit(older)
        #expect(try tokens(3) == [first, late, newer])
    }
}
