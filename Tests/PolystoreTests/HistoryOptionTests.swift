import Foundation
import PolystoreCatalog
import PolystoreStorage
import TestStores
import Testing

/// Stores that are opened with `history=off`, and what becomes of the history of those that have one.
@Suite struct HistoryOptionTests {
    private static let stores = TestStore.all.filter { $0 != .memory }

    private static func schema() throws -> Schema {
        try Schema(version: "V1", entities: [Entity("Note", attributes: [Attribute("number", .int64)])])
    }

    /// A place, and how to open it.
    private struct Place {
        let url: String
        let off: String

        init(_ kind: TestStore) throws {
            let name = "polystore_\(UUID().uuidString.lowercased().prefix(13))"
            if kind == .postgresql {
                url = try #require(TestStore.server) + "&x-schema=\(name)"
                off = url + "&x-history=off"
            } else {
                url = "\(kind.rawValue):\(FileManager.default.temporaryDirectory.appendingPathComponent(name).path)"
                off = url + "?history=off"
            }
        }

        func with<R>(_ url: String, _ body: (any StorageInterface) throws -> R) throws -> R {
            let store = try StoreCatalog.standard.store(at: StoreURL(url), configuration: nil)
            _ = try store.open(OpenRequest(schema: HistoryOptionTests.schema()))
            defer { try? store.close() }
            return try body(store)
        }

        func erase() { try? StoreCatalog.standard.store(at: StoreURL(url), configuration: nil).erase() }
    }

    private func write(_ store: any StorageInterface) throws -> HistoryToken? {
        let writer = try store.beginWrite(WriteOptions())
        defer { writer.end() }
        let key = try writer.reserveKeys(0, count: 1).lowerBound
        let row = RowSource(count: 1) { _, batch in batch.appendRow(key: key, version: 1, entity: 0, slots: 1)[0] = .int(1) }
        try writer.apply(ChangeSet(entities: [EntityChanges(entity: 0, inserts: row)]))
        return try writer.commit(CommitRecord())
    }

    private func history(_ store: any StorageInterface, since token: HistoryToken?) throws -> [HistoryToken?] {
        let reader = try store.beginRead()
        defer { reader.end() }
        return try reader.history(since: token, limit: 10).map(\.token)
    }

    private func code(_ body: () throws -> Void) -> StorageError.Code? {
        do { try body() } catch { return (error as? StorageError)?.code }
        return nil
    }

    @Test(arguments: TestStore.all) func aStoreWithoutHistoryLacksTheCapability(_ kind: TestStore) throws {
        let option = kind == .postgresql ? "&x-history=off" : "?history=off"
        let url = kind == .postgresql ? try #require(TestStore.server) : "\(kind.rawValue):\(kind == .memory ? "" : "/nowhere")"
        let store = try StoreCatalog.standard.store(at: StoreURL(url + option), configuration: nil)
        #expect(!store.capabilities.supported.contains(.history))
        #expect(code { _ = try StoreCatalog.standard.store(at: StoreURL(url + option + "f"), configuration: nil) } == .invalidConfiguration)
    }

    @Test(arguments: stores) func whatIsNotRecordedIsNoSilentGap(_ kind: TestStore) throws {
        let place = try Place(kind)
        defer { place.erase() }
        let tokens = try place.with(place.url) { store in [try write(store), try write(store)] }
        try place.with(place.off) { store in
            let tokens = [try write(store), try write(store)]
            #expect(tokens == [nil, nil])
        }
        try place.with(place.url) { store in
            // The newest token too: what was written after it is not in the history.
            for token in tokens { #expect(code { _ = try history(store, since: token) } == .tokenExpired) }
            let none = try history(store, since: nil), next = try write(store), all = try history(store, since: nil)
            #expect(none.isEmpty && all == [next])
            for token in tokens { #expect(code { _ = try history(store, since: token) } == .tokenExpired) }
            let last = try write(store)
            #expect(try history(store, since: next) == [last])
            #expect(try #require(next).position > #require(tokens[1]).position)
        }
        // Opening it without history changes nothing; writing does.
        let newest = try place.with(place.url) { store in try write(store) }
        try place.with(place.off) { _ in }
        #expect(try place.with(place.url) { store in try history(store, since: newest) }.isEmpty)
        try place.with(place.off) { store in _ = try write(store) }
        try place.with(place.url) { store in
            #expect(code { _ = try history(store, since: newest) } == .tokenExpired)
            let next = try write(store), all = try history(store, since: nil)
            #expect(all == [next])
        }
    }
}
