internal import PolystoreStorage
internal import Synchronization

/// What every kind of transaction can do: create, edit, delete, import and fetch.
///
/// Fetches see the transaction's own changes. Objects belong to the transaction and cannot leave it; ids and snapshots can.
public class BaseTransaction: FetchSource {
    /// The author that the history names.
    public final let author: TransactionAuthor
    /// What the program gave the transaction to know it again by; observers of the stack are told it with the changes.
    public final let sourceIdentifier: (any Hashable & Sendable)?

    final let context: ObjectContext
    /// Where new objects of the classes go that were created here; the class that was created last is nearly always the next one.
    @exclusivity(unchecked) final private var lastTarget: CreationTarget?
    private final var targets: [ObjectIdentifier: CreationTarget] = [:]
    /// The changes of the stack's stores that the targets are of.
    private final var targetChanges = 0
    private(set) final var keyBlocks: [KeyBlock.Place: KeyBlock] = [:]

    init(_ context: ObjectContext, author: TransactionAuthor, source: (any Hashable & Sendable)?) {
        self.author = author
        sourceIdentifier = source
        self.context = context
        context.tracker = ChangeTracker()
    }

    /// Whether anything was created, changed or deleted and is not yet committed.
    public final var hasChanges: Bool { context.tracker?.hasChanges ?? false }

    /// The context that fetches use.
    public var _fetchContext: ObjectContext {
        get throws(StorageError) {
            try checkOpen()
            return context
        }
    }

    /// - Throws: `storeClosed` when the transaction has ended: what is done then would be lost without a word.
    final func checkOpen() throws(StorageError) { if context.tracker == nil { throw SessionPool.ended } }

    /// Forgets where new objects go, so that none is made after the end.
    final func forgetTargets() {
        lastTarget = nil
        targets.removeAll()
        keyBlocks.removeAll()
    }

    /// Forgets the keys that were reserved and not given: a store that returned to a savepoint may give them to others.
    final func forgetReservedKeys() { for block in keyBlocks.values { block.next = block.end } }

    /// Keys that no object had before.
    func reserveKeys(_ place: KeyBlock.Place, count: Int) throws(StorageError) -> Range<Int64> {
        throw StorageError(.readOnly, "this kind of transaction creates nothing")
    }

    /// The target of a class that was created here last; nil where another one was, and where stores have come or gone since.
    @inline(__always)
    final func lastTarget(of type: ManagedObject.Type) -> CreationTarget? {
        guard let lastTarget, lastTarget.type == type, context.stack.storeChanges.load(ordering: .relaxed) == targetChanges else {
            return nil
        }
        return lastTarget
    }

    /// The target of a class that was created here before.
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

    /// Remembers where the objects of a class go: asking takes a lock.
    final func remember(_ target: CreationTarget) {
        targets[ObjectIdentifier(target.type)] = target
        lastTarget = target
    }

    /// The keys of an entity's hierarchy in a store.
    final func keyBlock(_ entity: EntityIndex, _ store: Int) -> KeyBlock {
        let place = KeyBlock.Place(store: store, root: context.model.schema[entity].root)
        if let block = keyBlocks[place] { return block }
        let block = KeyBlock(place)
        keyBlocks[place] = block
        return block
    }

    /// Reserves the next keys. Blocks grow, so that one object costs one key and a hundred thousand cost few calls.
    final func refill(_ block: KeyBlock) throws(StorageError) {
        let created = context.tracker?.inserted.count ?? 0
        let keys = try reserveKeys(block.place, count: min(max(created, 1), 8192))
        block.next = keys.lowerBound
        block.end = keys.upperBound
    }
}
