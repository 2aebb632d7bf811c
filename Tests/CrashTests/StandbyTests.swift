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
}
