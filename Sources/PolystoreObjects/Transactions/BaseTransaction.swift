internal import PolystoreStorage
internal import Synchronization

/// The operations that all kinds of transactions share: creating, editing, deleting, importing and fetching objects.
///
/// Fetches include the transaction's own changes. Objects belong to the transaction and must not leave it; ids and snapshots may.
public class BaseTransaction: FetchSource {
    /// The author that is recorded in the history.
    public final let author: TransactionAuthor
    /// A value by which the program can recognize the transaction. Observers of the stack receive it with the changes.
    public final let sourceIdentifier: (any Hashable & Sendable)?

    package final let context: ObjectContext
    /// The target of the class of the most recently created object, which is usually also the class of the next one.
    @exclusivity(unchecked) final private var lastTarget: CreationTarget?
    private final var targets: [ObjectIdentifier: CreationTarget] = [:]
    /// The value of the stack's `storeChanges` counter for which the targets are valid.
    private final var targetChanges = 0
    private(set) final var keyBlocks: [KeyBlock.Place: KeyBlock] = [:]

    init(_ context: ObjectContext, author: TransactionAuthor, source: (any Hashable & Sendable)?) {
        self.author = author
        sourceIdentifier = source
        self.context = context
        context.tracker = ChangeTracker()
    }

    /// Whether the transaction has created, changed or deleted objects and has not committed that yet.
    public final var hasChanges: Bool { context.tracker?.hasChanges ?? false }

    /// The context that fetches use.
    public var _fetchContext: ObjectContext {
        get throws(StorageError) {
            try checkOpen()
            return context
        }
    }

    /// - Throws: `storeClosed` if the transaction has ended. Changes made after that would be lost silently.
    final func checkOpen() throws(StorageError) { if context.tracker == nil { throw SessionPool.ended } }

    /// - Throws: The error for which the transaction can only end.
    func checkUsable() throws(StorageError) { try checkOpen() }

    /// Discards the creation targets, so that no object is created after the end of the transaction.
    final func forgetTargets() {
        lastTarget = nil
        targets.removeAll()
        keyBlocks.removeAll()
    }

    /// Discards the reserved keys that were not assigned. After a rollback to a savepoint the store may assign them to other objects.
    final func forgetReservedKeys() { for block in keyBlocks.values { block.next = block.end } }

    /// Reserves keys that no object has had before.
    func reserveKeys(_ place: KeyBlock.Place, count: Int) throws(StorageError) -> Range<Int64> {
        throw StorageError(.readOnly, "this transaction cannot create objects")
    }

    /// Returns the target of a class if it was used for the most recent creation, and if no store was added or removed since.
    @inline(__always)
    final func lastTarget(of type: ManagedObject.Type) -> CreationTarget? {
        guard let lastTarget, lastTarget.type == type, context.stack.storeChanges.load(ordering: .relaxed) == targetChanges else {
            return nil
        }
        return lastTarget
    }

    /// Returns the target of a class of which this transaction has created objects before.
    final func knownTarget(_ type: ManagedObject.Type) -> CreationTarget? {
        let changes = context.stack.storeChanges.load(ordering: .acquiring)
        if changes != targetChanges {
            lastTarget = nil
            targets.removeAll()
            targetChanges = changes
        }
        if let target = targets[ObjectIdentifier(type)] { lastTarget = target }
        return targets[ObjectIdentifier(type)]
    }

    /// Stores the target of a class, because determining it requires a lock.
    final func remember(_ target: CreationTarget) {
        targets[ObjectIdentifier(target.type)] = target
        lastTarget = target
    }

    /// Returns the key block of an entity's hierarchy in a store.
    final func keyBlock(_ entity: EntityIndex, _ store: Int) -> KeyBlock {
        let place = KeyBlock.Place(store: store, root: context.model.schema[entity].root)
        if let block = keyBlocks[place] { return block }
        let block = KeyBlock(place)
        keyBlocks[place] = block
        return block
    }

    /// Reserves the next keys. Blocks grow, so that one object reserves one key and 100 000 objects need few calls.
    final func refill(_ block: KeyBlock) throws(StorageError) {
        let created = context.tracker?.inserted.count ?? 0
        let keys = try reserveKeys(block.place, count: min(max(created, 1), 8192))
        block.next = keys.lowerBound
        block.end = keys.upperBound
    }
}

extension BaseTransaction: QuerySource {
    /// Runs a closure with a context of the newest committed state, or with that of the transaction.
    public func _withQueryContext<R>(
        _ includesPendingChanges: Bool, _ body: (ObjectContext) throws(StorageError) -> R
    ) throws(StorageError) -> R {
        if !includesPendingChanges {
            try checkOpen()
            return try body(context.committed)
        }
        let own = try _fetchContext
        try own.checkFlushed()
        if own.hasDetachedChanges {
            throw StorageError(
                .unsupported, "a query for values cannot include uncommitted changes of the transaction; fetch the objects, or commit first"
            )
        }
        return try body(own)
    }
}
