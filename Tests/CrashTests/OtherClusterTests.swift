import Foundation
import Polystore
import PolystoreCatalog
import RawSessions
import Testing

/// A server that is exchanged for another one, into which its dump was restored, while a store is open.
@Suite(.serialized) struct OtherClusterTests {
    private func note(_ store: any StorageInterface, _ byte: UInt8) throws {
        let writer = try store.beginWrite(WriteOptions())
        defer { writer.end() }
        try writer.setNote("note", Data([byte]))
        _ = try writer.commit(CommitRecord())
    }

    private func note(_ store: any StorageInterface) throws -> Data? {
        let reader = try store.beginRead()
        defer { reader.end() }
        return try reader.note("note")
    }

    /// Tokens and positions of its history are ids of the old one's transactions.
    @Test func anOpenStoreNoticesAnotherCluster() throws {
        guard let server = OwnServer() else { return }
        defer { server.remove() }
        let store = try StoreCatalog.standard.store(at: StoreURL(server.url), configuration: nil)
        _ = try store.open(OpenRequest(schema: Schema(entities: [Entity("Note", attributes: [Attribute("text", .string)])])))
        try note(store, 1)
        try server.moveToAnotherCluster()
        #expect(throws: StorageError.self) { _ = try note(store) }
        let refusal = #expect(throws: StorageError.self) { try note(store, 2) }
        #expect(refusal?.code == .storeClosed)
        try store.close()
        _ = try store.open(OpenRequest(schema: nil, createIfMissing: false))
        #expect(try note(store) == Data([1]))
        try note(store, 3)
        try store.close()
    }
}
