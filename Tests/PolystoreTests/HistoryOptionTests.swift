import Foundation
import Polystore
import PolystoreCatalog
import PolystoreStorage
import RawSessions
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
        let reader = try store.beginSettledRead()
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

    /// Counts what it is told.
    private final class Calls: ListObjectObserver {
        var calls: [String] = []
        func listMonitorDidChange(_ monitor: ListMonitor<DynamicObject>) { calls.append("did") }
        func listMonitorDidRefetch(_ monitor: ListMonitor<DynamicObject>) { calls.append("refetch") }
        func listMonitor(_ monitor: ListMonitor<DynamicObject>, didInsertObject object: DynamicObject, toIndexPath indexPath: IndexPath) {
            calls.append("insert \(indexPath[1])")
        }
        func listMonitor(_ monitor: ListMonitor<DynamicObject>, didDeleteObject object: DynamicObject, fromIndexPath indexPath: IndexPath) {
            calls.append("delete \(indexPath[1])")
        }
    }

    @Test(arguments: TestStore.all) func aListFollowsCommitsOfAStoreWithoutHistory(_ kind: TestStore) throws {
        let place = try Place(kind), url = kind == .memory ? "memory:?history=off" : place.off
        defer { place.erase() }
        let stack = try DataStack(schema: Self.schema()), notes = From<DynamicObject>(entity: "Note").orderBy(.ascending("number"))
        try stack.addStorageAndWait(StoreCatalog.standard.store(at: StoreURL(url), configuration: nil))
        let view = stack.makeViewContext(), monitor = try view.monitorList(notes)
        // On a server transactions of others that began before the watch end with a notice of unknown changes, once each.
        for attempt in 1...10 {
            let calls = Calls()
            monitor.addObserver(calls)
            for number in [5, 3, 9] {
                try stack.perform(synchronous: { transaction in
                    try transaction.create(Into<DynamicObject>(entity: "Note")).setValue(.int(Int64(number)), for: "number")
                })
                try view.merge()
            }
            _ = try stack.perform(synchronous: { try $0.deleteAll(notes.limit(1)) })
            try view.merge()
            #expect(monitor.objectIDs == (try stack.fetchIDs(notes)))
            if attempt == 10 || !calls.calls.contains("refetch") {
                #expect(calls.calls == ["insert 0", "did", "insert 0", "did", "insert 2", "did", "delete 0", "did"])
                break
            }
            _ = try stack.perform(synchronous: { try $0.deleteAll(notes) })
            try view.merge()
        }
        let reader = try stack.storages[0].beginRead()
        defer { reader.end() }
        #expect(code { _ = try reader.history(since: nil, limit: 10) } == .unsupported)
    }

    @Test(arguments: stores) func tokensExpireAfterUnrecordedCommits(_ kind: TestStore) throws {
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
