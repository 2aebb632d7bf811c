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
    /// Where new objects of the classes go that were created here; the class that was created last is nearly always the next one.
    @exclusivity(unchecked) private(set) var lastTarget: CreationTarget?
    private var targets: [ObjectIdentifier: CreationTarget] = [:]
    private(set) var keyBlocks: [KeyBlock.Place: KeyBlock] = [:]
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

    /// Why the closure has to run again, other than a conflict.
    var restart: SessionPool.Restart? { sessions.restart }

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

    /// The target of a class that was created here before.
    func knownTarget(_ type: ManagedObject.Type) -> CreationTarget? {
        if let target = targets[ObjectIdentifier(type)] { lastTarget = target }
        return targets[ObjectIdentifier(type)]
    }

    /// Remembers where the objects of a class go: asking takes a lock.
    func remember(_ target: CreationTarget) {
        targets[ObjectIdentifier(target.type)] = target
        lastTarget = target
    }

    /// The keys of an entity's hierarchy in a store.
    func keyBlock(_ entity: EntityIndex, _ store: Int) -> KeyBlock {
        let place = KeyBlock.Place(store: store, root: context.model.schema[entity].root)
        if let block = keyBlocks[place] { return block }
        let block = KeyBlock(place)
        keyBlocks[place] = block
        return block
    }

    /// Reserves the next keys. Blocks grow, so that one object costs one key and a hundred thousand cost few calls.
    func refill(_ block: KeyBlock) throws(StorageError) {
        let created = context.tracker?.inserted.count ?? 0
        let keys = try sessions.writer(block.place.store).reserveKeys(block.place.root, count: min(max(created, 1), 8192))
        block.next = keys.lowerBound
        block.end = keys.upperBound
    }
}
