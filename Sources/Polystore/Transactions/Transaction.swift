public import PolystoreStorage

/// What a closure of `perform` works with: creates, edits, deletes and fetches, all or nothing.
///
/// Fetches see the transaction's own changes. Objects belong to the transaction and cannot leave it; ids and snapshots can.
public final class Transaction: FetchSource {
    /// The author that the history names.
    public let author: String
    /// How often the closure was started, this time included; more than 1 after a conflict with another transaction.
    public let attempt: Int

    let context: ObjectContext
    private let sessions: SessionPool
    private struct Place: Hashable {
        let store: Int
        let root: EntityIndex
    }

    /// Keys that were reserved and not yet given.
    private var keys: [Place: Range<Int64>] = [:]
    /// The store that new objects of a class go to; asked for once, because asking takes a lock.
    var targets: [ObjectIdentifier: (entity: EntityIndex, store: Int)] = [:]
    private var isCancelled = false

    init(_ core: StackCore, author: String, attempt: Int, options: WriteOptions, stores: Set<Int>) throws(StorageError) {
        self.author = author
        self.attempt = attempt
        sessions = try SessionPool(writingTo: core, options, stores: stores)
        context = ObjectContext(stack: core, model: core.model, storeCount: core.storeCount)
        context.sessions = sessions
        context.tracker = ChangeTracker()
    }

    /// Whether anything was created, changed or deleted.
    public var hasChanges: Bool { context.tracker?.hasChanges ?? false }

    /// Ends the transaction without a change, by throwing `cancelled`.
    public func cancel() throws(StorageError) -> Never {
        isCancelled = true
        throw StorageError(.cancelled, "the transaction was cancelled by its closure")
    }

    /// The context that fetches use.
    public var _fetchContext: ObjectContext {
        get throws(StorageError) {
            if Task.isCancelled { throw StorageError(.cancelled, "the task was cancelled") }
            try context.flush()
            return context
        }
    }

    /// The stores that must be opened from the start when the closure runs again.
    var storesForNextAttempt: Set<Int>? { sessions.wantsToStartAgainWith }

    /// Checks, writes and commits.
    func commit() throws(StorageError) {
        if isCancelled { throw StorageError(.cancelled, "the transaction was cancelled by its closure") }
        if Task.isCancelled { throw StorageError(.cancelled, "the task was cancelled") }
        try context.throwFailure()
        try context.validate()
        try context.flush()
        _ = try sessions.commit(CommitRecord(author: author))
        finish()
    }

    /// Lets go of everything; what was not committed is undone.
    func finish() {
        sessions.end()
        context.tracker?.clear()
        context.tracker = nil
        context.sessions = nil
    }

    func nextKey(_ entity: EntityIndex, _ store: Int) throws(StorageError) -> Int64 {
        let place = Place(store: store, root: context.model.schema[entity].root)
        if let block = keys[place], block.lowerBound < block.upperBound {
            keys[place] = (block.lowerBound + 1)..<block.upperBound
            return block.lowerBound
        }
        // Blocks grow, so that one object costs one key and a hundred thousand cost few calls.
        let created = context.tracker?.inserted.count ?? 0
        let block = try sessions.writer(store).reserveKeys(entity, count: min(max(created, 1), 8192))
        keys[place] = (block.lowerBound + 1)..<block.upperBound
        return block.lowerBound
    }
}
