internal import Polystore
internal import PolystoreStorage
internal import Synchronization

/// A store that answers no condition and no sort order itself, counts the requests to its read sessions, and can be made to fail.
final class WeakStore: ForwardingStore {
    static let storeType = "weak"

    let base: any StorageInterface
    private let state = Mutex((reads: 0, left: Int.max))

    init(_ base: any StorageInterface) { self.base = base }

    /// The number of requests for rows: by their keys, by a plan, by a link table.
    var reads: Int { state.withLock { $0.reads } }

    /// Lets only the next `count` reads succeed.
    func allow(_ count: Int) { state.withLock { $0.left = count } }

    func beginRead(_ options: ReadOptions) throws(StorageError) -> any StorageReader {
        Reader(NoPushdown(try base.beginRead(options)), self)
    }

    private func count() throws(StorageError) {
        let isAllowed = state.withLock { state in
            state.reads += 1
            state.left = max(state.left - 1, -1)
            return state.left >= 0
        }
        if !isAllowed { throw StorageError(.inputOutput, "the suite's weak store fails this read") }
    }

    private final class Reader: ForwardingReader, SingleRowReader {
        let reader: any StorageReader
        private let store: WeakStore

        init(_ reader: any StorageReader, _ store: WeakStore) {
            self.reader = reader
            self.store = store
        }

        func cursor(for plan: FetchPlan) throws(StorageError) -> any RowCursor {
            try store.count()
            return try reader.cursor(for: plan)
        }

        func row(_ entity: EntityIndex, key: Int64, into batch: RowBatch) throws(StorageError) {
            try rows(entity, keys: [key], into: batch)
        }

        func rows(_ entity: EntityIndex, keys: [Int64], into batch: RowBatch) throws(StorageError) {
            try store.count()
            try reader.rows(entity, keys: keys, into: batch)
        }

        func links(
            _ link: Int, side: LinkSide, keys: [Int64]?, _ body: (UnsafeBufferPointer<LinkPair>) throws(StorageError) -> Void
        ) throws(StorageError) {
            try store.count()
            try reader.links(link, side: side, keys: keys, body)
        }
    }
}

extension StoreHarness {
    /// Runs `body` over a stack with one new store, wrapped by a weak store.
    func withWeakStack(_ body: (DataStack, WeakStore) throws -> Void) throws {
        let place = try place(), stack = try Graph.stack()
        defer { place.remove() }
        let store = WeakStore(try place.store(nil))
        try stack.addStorageAndWait(store)
        defer { try? store.close() }
        try body(stack, store)
    }
}
