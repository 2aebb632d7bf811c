internal import PolystoreFoundation
internal import PolystoreStorage

/// A transaction that is not tied to a closure. Its changes stay in memory until `commit`, which can be called any number of times.
///
/// It holds no transaction of a store open: it does not block other transactions, and its fetches read the newest committed state merged
/// with its own changes. It is therefore not serializable. Each commit is one short write transaction that checks the versions of the
/// changed objects.
///
/// It belongs to one thread at a time. New objects get keys from the store, which requires a short write transaction for each block of
/// keys.
public final class UnsafeTransaction: BaseTransaction {
    private static let attempts = TransactionRunner.attempts

    package let core: StackCore
    package var monitors = ContextMonitors()
    /// Whether monitors are being notified, and whether they must be notified again afterwards.
    var isTelling = false, tellsAgain = false
    private var history: UndoHistory?
    /// The changes before a policy merged them, during a commit that is not complete.
    private var unmerged: UndoHistory.State?

    init(_ core: StackCore, author: TransactionAuthor, source: (any Hashable & Sendable)?, supportsUndo: Bool) {
        self.core = core
        if supportsUndo { history = UndoHistory() }
        super.init(ObjectContext(stack: core, model: core.model), author: author, source: source)
        beginHistory()
    }

    private func beginHistory() { if let tracker = context.tracker { history?.begin(tracker) } }

    deinit {
        // The objects retain the context, and the context retains its changed objects.
        context.tracker?.clear()
        context.tracker = nil
    }

    /// Validates the rules of the model, checks the versions of all changed objects and the existence of all objects that they reference,
    /// then writes and commits. Does nothing without changes.
    ///
    /// Objects that a merge policy changed are validated again, after another call of `willSave`.
    ///
    /// - Parameters:
    ///   - policy: The resolution of conflicts with transactions that changed an object in the meantime.
    ///   - validatesReads: Whether objects that were read and are still retained must be unchanged in the store too, although this
    ///     transaction assigned nothing to them. Use it for decisions based on their values. The policy does not apply to them. A commit
    ///     that has nothing to write, or no longer has because the policy gave up all changes, does not compare them.
    ///   - timeout: The maximum duration of the commit, including waiting for other writers; nil for no limit except that of the stores.
    /// - Throws: `staleObject`, which names the keys of all objects that other transactions changed or deleted, including those that are
    ///   only referenced here, and of the objects deleted here that gained references or members since; `deleteDenied` if a policy keeps
    ///   such a deletion and a delete rule denies it; any error of writing. An error that a getter or setter could not throw is thrown
    ///   first, once; for a property that was assigned after it could not be loaded, by each commit until `rollback` discards that,
    ///   or a relationship is loaded and assigned again. After an error the changes stay in memory as they were, also if a policy had already merged them. They can be
    ///   corrected and committed again, or discarded with `rollback`.
    public func commit(
        merging policy: MergePolicy = .error, validatesReads: Bool = false, timeout: Duration? = nil
    ) throws(StorageError) {
        let measured = Measured(core, .commit, author.name), counts = measured == nil ? Measured.Counts() : context.tracker?.pendingCounts
        do throws(StorageError) {
            try reporting { () throws(StorageError) in
                try core.checkReentrancy()
                // The transaction has begun before, and may end while a shutdown waits.
                try core.gate.enter(isInner: true)
                defer { core.gate.leave() }
                try commitChanges(policy, validatesReads, WorkLimit(timeout: timeout))
            }
            measured?.end(counts ?? Measured.Counts(), nil)
            notifyMonitors()
        } catch {
            measured?.end(Measured.Counts(), error)
            throw error
        }
    }

    private func commitChanges(_ policy: MergePolicy, _ validatesReads: Bool, _ limit: WorkLimit) throws(StorageError) {
        try context.checkFailedLoads()
        try context.takeFailure()
        guard let tracker = context.tracker, tracker.hasPending else { return }
        try validatePrepared()
        let reads = validatesReads ? heldReads(tracker) : []
        // What a policy has merged is committed or taken back.
        defer {
            unmerged?.restore(context, tracker)
            unmerged = nil
        }
        for attempt in 1...Self.attempts {
            let stale: StorageError?
            do throws(StorageError) {
                stale = try write(tracker, WriteOptions(isExclusive: attempt == Self.attempts, limit: limit), reads)
            } catch  where error.code == .serializationFailure && attempt < Self.attempts {
                Threads.pause(seconds: Double.random(in: 0...0.02))
                continue
            } catch  where error.code == .alreadyExists && !tracker.inserted.isEmpty {
                for block in keyBlocks.values { (block.next, block.end) = (0, 0) }
                throw StorageError(
                    .alreadyExists,
                    "\(error.message): a statement in SQL has taken a key that was reserved for a new object; delete the new object in this "
                        + "transaction, and create it again", details: error.details, cause: error.cause)
            } catch  where error.code == .busy {
                // If the time limit expired while waiting for another writer, throw `timeout` and not `busy`.
                try limit.check()
                throw error
            } catch  where error.code == .staleObject || error.code == .notFound {
                // Rows of different moments do not fit together, and what the resolution leaves alone is not compared with the stores again.
                try context.withSnapshots { () throws(StorageError) in
                    var conflicts = Conflicts(context, tracker)
                    try conflicts.find()
                    // Without a conflict of a changed object, the error concerns another missing object.
                    if policy.isError || conflicts.isEmpty || attempt == Self.attempts { throw conflicts.error(error) }
                    if unmerged == nil { unmerged = UndoHistory.State(tracker) }
                    try conflicts.resolve(policy)
                }
                try validatePrepared()
                continue
            }
            guard let stale else {
                unmerged = nil
                return
            }
            // No policy applies to what was only read.
            if !policy.isError { throw stale }
            var conflicts = Conflicts(context, tracker)
            try conflicts.find()
            throw conflicts.error(stale)
        }
    }

    /// The objects of one hierarchy of a store that were only read, with the versions that were read.
    private typealias Reads = (store: Int, root: EntityIndex, objects: [(object: ManagedObject, version: Int64)])

    /// Returns the retained objects without changes. The resolution of conflicts may read and change them later.
    private func heldReads(_ tracker: ChangeTracker) -> [Reads] {
        let changed = Set(tracker.pendingObjects.map(ObjectIdentifier.init))
        return context.liveObjects.compactMap { store, root, objects in
            let held = objects.filter { !$0.isDeletedObject && !$0.isNew && !changed.contains(ObjectIdentifier($0)) }
            return held.isEmpty || !core.hasStore(store) ? nil : (store, root, held.map { ($0, $0._version) })
        }
    }

    /// Validates the rules of the model. Errors that getters and setters could not throw during the validation are thrown here and do not
    /// fail the next commit.
    private func validatePrepared() throws(StorageError) {
        try context.throwingFailures(assigns: true) { () throws(StorageError) in try context.validate() }
    }

    /// Writes and commits the changes.
    ///
    /// - Returns: The error that names objects that were only read and have changed since; nil after the commit.
    private func write(_ tracker: ChangeTracker, _ options: WriteOptions, _ reads: [Reads]) throws(StorageError) -> StorageError? {
        if !tracker.hasPending {
            // A policy has given up all changes.
            didCommit(tracker, [])
            return nil
        }
        let changes = tracker.changeSets(context.model.schema, checksVersions: true).filter { !$0.value.isEmpty }
        let stores = Set(changes.keys).union(reads.map(\.store)).union(PendingReferences.stores(context, tracker))
        while true {
            // All stores are opened at once, in their order, so that none has to be added later.
            let pool = try SessionPool(writingTo: core, options, stores: stores)
            defer { pool.end() }
            var lost: Set<PendingReferences.StoredPair> = []
            do throws(StorageError) {
                if let stale = try staleness(reads, pool) { return stale }
                lost = try validateReferences(tracker, pool)
                for (store, var changes) in changes.sorted(by: { $0.key < $1.key }) {
                    if !lost.isEmpty { changes.remove(lost, of: store) }
                    try MergedLists(context, tracker).merge(into: &changes, of: store, try pool.reader(store))
                    if !changes.isEmpty { try pool.apply(changes, to: store) }
                }
                try context.validateCounts(tracker, in: Set(changes.keys)) { store throws(StorageError) in try pool.reader(store) }
                try pool.commit(CommitRecord(author: author.name), source: sourceIdentifier)
            } catch {
                // A store may receive its part later. The changes are committed nevertheless.
                if pool.isCommitted { didCommit(tracker, lost) }
                guard case .pairing(let pairs)? = pool.restart else { throw error }
                pool.end()
                try core.pair(pairs)
                continue
            }
            didCommit(tracker, lost)
            return nil
        }
    }

    private func didCommit(_ tracker: ChangeTracker, _ lost: Set<PendingReferences.StoredPair>) {
        unmerged = nil
        MergedLists(context, tracker).forgetting {
            tracker.didFlush(isLast: true)
            tracker.didCommit()
        }
        // The lists still contain members that other transactions removed.
        if !lost.isEmpty { context.forgetRelationships() }
        beginHistory()
    }

    /// Compares the references of the changes with the stores, inside the write transaction.
    ///
    /// - Returns: The pairs that were assigned a new rank and no longer exist.
    private func validateReferences(
        _ tracker: ChangeTracker, _ pool: SessionPool
    ) throws(StorageError) -> Set<PendingReferences.StoredPair> {
        let references = try PendingReferences(context, tracker) { store, body throws(StorageError) in
            try body(try pool.reader(store))
        }
        if references.areIntact { return references.lost }
        // The objects involved are determined afterwards, together with all other conflicts.
        throw StorageError(
            .staleObject,
            "another transaction deleted an object that is referenced here, or added a reference to an object that is deleted here")
    }

    /// Returns the error that names objects whose versions differ from those that were read, inside the write transaction.
    private func staleness(_ reads: [Reads], _ pool: SessionPool) throws(StorageError) -> StorageError? {
        for (store, root, held) in reads {
            let batch = RowBatch(capacity: held.count)
            try pool.reader(store).rows(root, keys: held.map(\.object._key), into: batch)
            let versions = Dictionary((0..<batch.count).map { (batch.key($0), batch.row($0).version) }) { first, _ in first }
            let stale = held.filter { versions[$0.object._key] != $0.version }.map(\.object)
            guard let first = stale.first else { continue }
            return StorageError(
                .staleObject,
                "\(first.description.name) \(first._key), which was read here, was changed or deleted by another transaction; refresh it and "
                    + "repeat the decision", details: .init(entity: first.description.name, keys: stale.map(\._key)))
        }
        return nil
    }

    /// Updates every object without pending changes to the current state of its store. Objects with pending changes keep them, and the
    /// version from which they were made; after `staleObject` they need ``rollback()`` first.
    public func refresh() throws(StorageError) {
        try context.refreshUnchanged()
        notifyMonitors()
    }

    /// Discards all changes since the last commit: objects have their committed values again, and new objects are deleted.
    ///
    /// Objects of a store that was removed from the stack have the values with which they were read.
    /// - Throws: Any error of reading. In that case the changes remain pending.
    public func rollback() throws(StorageError) {
        try context.refreshAll {
            context.tracker?.takeBack()
            context.tracker?.discard()
            context.forgetFailure()
        }
        beginHistory()
        notifyMonitors()
    }

    /// Marks the present state as one to which `undo` returns. Call it before each step that a user may undo.
    ///
    /// The beginning, each commit and each rollback are marked automatically, and are the earliest states: committed changes are not
    /// undone. The states restored by `undo` and `redo` are marked too if something is changed after that.
    /// - Throws: `unsupported` if the transaction was begun without `supportsUndo`.
    public func markUndoPoint() throws(StorageError) {
        try checkUndo()
        if let tracker = context.tracker { history?.mark(tracker) }
    }

    /// Returns to the newest marked state: values, relationships, new and deleted objects.
    ///
    /// - Returns: False if there is no state to return to, as after a commit.
    /// - Throws: `unsupported` if the transaction was begun without `supportsUndo`.
    @discardableResult
    public func undo() throws(StorageError) -> Bool {
        try checkUndo()
        let isUndone = context.tracker.flatMap { history?.undo(context, $0) } ?? false
        notifyMonitors()
        return isUndone
    }

    /// Returns to the state before the last undo.
    ///
    /// - Returns: False if nothing was undone since the last mark, or if something was changed since the last undo.
    /// - Throws: `unsupported` if the transaction was begun without `supportsUndo`.
    @discardableResult
    public func redo() throws(StorageError) -> Bool {
        try checkUndo()
        let isRedone = context.tracker.flatMap { history?.redo(context, $0) } ?? false
        notifyMonitors()
        return isRedone
    }

    /// Whether there is a state to which `undo` returns. False in a transaction that was begun without `supportsUndo`.
    public var canUndo: Bool { context.tracker.flatMap { history?.canUndo($0) } ?? false }

    /// Whether there is a state to which `redo` returns. False in a transaction that was begun without `supportsUndo`.
    public var canRedo: Bool { context.tracker.flatMap { history?.canRedo($0) } ?? false }

    private func checkUndo() throws(StorageError) {
        if history != nil { return }
        try reporting { () throws(StorageError) in
            throw StorageError(.unsupported, "the transaction does not record undo states; begin it with supportsUndo: true")
        }
    }

    override func reserveKeys(_ place: KeyBlock.Place, count: Int) throws(StorageError) -> Range<Int64> {
        try core.checkReentrancy()
        let writer = try core.beginWrite(place.store, WriteOptions())
        defer { writer.end() }
        // A block for several objects, because each reservation requires a transaction.
        let keys = try writer.reserveKeys(place.root, count: max(count, 64))
        _ = try writer.commit(CommitRecord(author: author.name))
        return keys
    }
}
