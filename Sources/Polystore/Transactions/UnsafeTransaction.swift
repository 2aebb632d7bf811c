internal import Foundation
internal import PolystoreStorage

/// A transaction that is not tied to a closure: its changes stay in memory until `commit`, which can be called any number of times.
///
/// It holds no transaction of a store: others are not kept waiting, and its fetches read the newest committed state with its own changes
/// merged in. It is therefore not serializable. Each commit is one short write transaction that checks the versions of what it changes.
///
/// It belongs to one thread at a time. New objects get keys from the store, which takes a short write transaction of its own for each
/// block of them.
public final class UnsafeTransaction: BaseTransaction {
    private static let attempts = TransactionRunner.attempts

    let core: StackCore
    var monitors = HomeMonitors()
    /// Whether monitors are being told, and whether they are to be told again then.
    var isTelling = false, tellsAgain = false
    private var history: UndoHistory?

    init(_ core: StackCore, author: TransactionAuthor, source: (any Hashable & Sendable)?, supportsUndo: Bool) {
        self.core = core
        if supportsUndo { history = UndoHistory() }
        super.init(ObjectContext(stack: core, model: core.model), author: author, source: source)
        beginHistory()
    }

    private func beginHistory() { if let tracker = context.tracker { history?.begin(tracker) } }

    deinit {
        // The objects hold the context, and the context its changed objects.
        context.tracker?.clear()
        context.tracker = nil
    }

    /// Checks the rules of the model, the versions of everything that was changed, and that what it refers to is still there; writes and
    /// commits. Does nothing without changes.
    ///
    /// What a merge policy makes of the objects is checked by the rules again, and asked whether it prepares itself for the commit.
    ///
    /// - Parameters:
    ///   - policy: What wins where somebody else changed an object in the meantime.
    ///   - validatesReads: Whether objects that were read and are still held must be unchanged too, although nothing was assigned to
    ///     them: for decisions that rest on what they said. The policy does not apply to them.
    ///   - timeout: The time that the commit may take, waiting for other writers included; nil for no limit but that of the stores.
    /// - Throws: `staleObject` naming the keys of all objects that others changed or deleted, those included that are only referred to here,
    ///   and of the objects deleted here that others refer to since; `deleteDenied` where a policy keeps such a deletion and a delete rule
    ///   denies it; whatever writing throws. What a getter or setter could not throw is thrown before anything else, once. The changes stay in
    ///   memory then, to be corrected and committed again, or given up with `rollback`.
    public func commit(
        merging policy: MergePolicy = .error, validatesReads: Bool = false, timeout: Duration? = nil
    ) throws(StorageError) {
        let measured = Measured(core, .commit, author.name), counts = measured == nil ? Measured.Counts() : context.tracker?.pendingCounts
        do throws(StorageError) {
            try reporting { () throws(StorageError) in
                try core.checkReentrancy()
                try commitChanges(policy, validatesReads, WorkLimit(timeout: timeout))
            }
            measured?.end(counts ?? Measured.Counts(), nil)
            tellMonitors()
        } catch {
            measured?.end(Measured.Counts(), error)
            throw error
        }
    }

    private func commitChanges(_ policy: MergePolicy, _ validatesReads: Bool, _ limit: WorkLimit) throws(StorageError) {
        try context.takeFailure()
        guard let tracker = context.tracker, tracker.hasPending else { return }
        try validate()
        for attempt in 1...Self.attempts {
            do throws(StorageError) {
                try write(tracker, limit.options(isExclusive: attempt == Self.attempts), validatesReads: validatesReads)
                return
            } catch  where error.code == .serializationFailure && attempt < Self.attempts {
                Thread.sleep(forTimeInterval: Double.random(in: 0...0.02))
            } catch  where error.code == .busy {
                // Whoever waited for another writer until the time was over learns that the time was over.
                try limit.check()
                throw error
            } catch  where error.code == .staleObject || error.code == .notFound {
                var conflicts = Conflicts(context, tracker)
                try conflicts.find()
                // Without a conflict of what was changed it is one of what was only read, or something else is missing.
                if policy.isError || conflicts.isEmpty || attempt == Self.attempts { throw conflicts.error(error) }
                try conflicts.resolve(policy)
                try validate()
            }
        }
    }

    /// Checks the rules of the model. What getters and setters could not throw in that is thrown here, and is no failure of the next commit.
    private func validate() throws(StorageError) {
        try context.throwingFailures { () throws(StorageError) in try context.validate() }
    }

    private func write(_ tracker: ChangeTracker, _ options: WriteOptions, validatesReads: Bool) throws(StorageError) {
        if !tracker.hasPending { return }
        let changes = tracker.changeSets(context.model.schema, checksVersions: true).filter { !$0.value.isEmpty }
        var stores = Set(changes.keys)
        if validatesReads { stores.formUnion(context.livePlaces.filter { $0.map.most > 0 }.map(\.store)) }
        while true {
            // All of them at once, in their order: none can come late.
            let pool = try SessionPool(writingTo: core, options, stores: stores)
            defer { pool.end() }
            var lost: Set<PendingReferences.StoredPair> = []
            do throws(StorageError) {
                if validatesReads { try validateReads(tracker, pool) }
                lost = try validateReferences(tracker, pool)
                for (store, var changes) in changes.sorted(by: { $0.key < $1.key }) {
                    if !lost.isEmpty { changes.remove(lost, of: store) }
                    if !changes.isEmpty { try pool.apply(changes, to: store) }
                }
                try pool.commit(CommitRecord(author: author.name), source: sourceIdentifier)
            } catch {
                // A store may take its part later: the changes are committed nevertheless.
                if pool.isCommitted { didCommit(tracker, lost) }
                guard case .pairing(let pairs)? = pool.restart else { throw error }
                pool.end()
                try core.pair(pairs)
                continue
            }
            return didCommit(tracker, lost)
        }
    }

    private func didCommit(_ tracker: ChangeTracker, _ lost: Set<PendingReferences.StoredPair>) {
        tracker.didFlush(isLast: true)
        tracker.didCommit()
        // The lists have members that others took out of them.
        if !lost.isEmpty { context.forgetRelationships() }
        beginHistory()
    }

    /// Compares what the changes lead to, inside the write transaction.
    ///
    /// - Returns: The pairs that were to get another rank and are gone.
    private func validateReferences(
        _ tracker: ChangeTracker, _ pool: SessionPool
    ) throws(StorageError) -> Set<PendingReferences.StoredPair> {
        let references = try PendingReferences(context, tracker) { store, body throws(StorageError) in
            try body(try pool.reader(store))
        }
        if references.areIntact { return references.lost }
        // Who and what is found out afterwards, with all the other conflicts.
        throw StorageError(
            .staleObject, "what is referred to here was deleted, or what is deleted here is referred to since, by another transaction")
    }

    /// Compares the versions of what is held but not changed, inside the write transaction.
    private func validateReads(_ tracker: ChangeTracker, _ pool: SessionPool) throws(StorageError) {
        let changed = Set(tracker.pendingObjects.map(ObjectIdentifier.init))
        for (store, root, objects) in context.liveObjects where core.hasStore(store) {
            let held = objects.filter { !$0.isDeletedObject && !$0.isNew && !changed.contains(ObjectIdentifier($0)) }
            if held.isEmpty { continue }
            let batch = RowBatch(capacity: held.count)
            try pool.reader(store).rows(root, keys: held.map(\._key), into: batch)
            let versions = Dictionary((0..<batch.count).map { (batch.key($0), batch.row($0).version) }) { first, _ in first }
            let stale = held.filter { versions[$0._key] != $0._version }
            guard let first = stale.first else { continue }
            throw StorageError(
                .staleObject,
                "\(first.description.name) \(first._key), which was read here, was changed or deleted by another transaction; refresh and "
                    + "decide again", details: .init(entity: first.description.name, keys: stale.map(\._key)))
        }
    }

    /// Brings every object that has no changes here to what its store has now.
    public func refresh() throws(StorageError) {
        let pending = Set(context.tracker?.pendingObjects.map(ObjectIdentifier.init) ?? [])
        for (store, root, objects) in context.liveObjects where core.hasStore(store) {
            try context.refresh(objects.filter { !pending.contains(ObjectIdentifier($0)) }, root, store)
        }
        tellMonitors()
    }

    /// Gives up all changes since the last commit: objects have their committed values again, new ones are gone.
    ///
    /// Objects of a store that was removed from the stack have the values with which they were read.
    /// - Throws: Whatever reading throws; the changes are as they were then.
    public func rollback() throws(StorageError) {
        try context.refreshAll {
            context.tracker?.takeBack()
            context.tracker?.rewind(to: ChangeTracker.Written())
            context.forgetFailure()
        }
        beginHistory()
        tellMonitors()
    }

    /// Marks the present state as one to which `undo` returns: call it before each step that a user may take back.
    ///
    /// The beginning, each commit and each rollback are such states by themselves, and the earliest: what is committed is not undone. So are
    /// the states that `undo` and `redo` have led to, when something is changed after that.
    /// - Throws: `unsupported` where the transaction was begun without `supportsUndo`.
    public func markUndoPoint() throws(StorageError) {
        try checkUndo()
        if let tracker = context.tracker { history?.mark(tracker) }
    }

    /// Returns to the newest state that was marked: values, relationships, new and deleted objects.
    ///
    /// - Returns: False when there is no state to return to.
    /// - Throws: `unsupported` where the transaction was begun without `supportsUndo`.
    @discardableResult
    public func undo() throws(StorageError) -> Bool {
        try checkUndo()
        let isUndone = context.tracker.flatMap { history?.undo(context, $0) } ?? false
        tellMonitors()
        return isUndone
    }

    /// Returns to the state that the last undo took back.
    ///
    /// - Returns: False when nothing was undone since the last mark, and when something was changed since the last undo.
    /// - Throws: `unsupported` where the transaction was begun without `supportsUndo`.
    @discardableResult
    public func redo() throws(StorageError) -> Bool {
        try checkUndo()
        let isRedone = context.tracker.flatMap { history?.redo(context, $0) } ?? false
        tellMonitors()
        return isRedone
    }

    private func checkUndo() throws(StorageError) {
        if history != nil { return }
        try reporting { () throws(StorageError) in
            throw StorageError(.unsupported, "the transaction keeps no states to return to; begin it with supportsUndo: true")
        }
    }

    override func reserveKeys(_ place: KeyBlock.Place, count: Int) throws(StorageError) -> Range<Int64> {
        try core.checkReentrancy()
        let writer = try core.beginWrite(place.store, WriteOptions())
        defer { writer.end() }
        // A block for more than one: each takes a transaction.
        let keys = try writer.reserveKeys(place.root, count: max(count, 64))
        _ = try writer.commit(CommitRecord(author: author.name))
        return keys
    }
}

extension DataStack {
    /// Begins a transaction that is not tied to a closure; it ends when the program lets go of it.
    ///
    /// - Parameters:
    ///   - author: The author that the history names.
    ///   - supportsUndo: Whether states are kept for `undo` and `redo`.
    ///   - sourceIdentifier: What observers of the stack are told with the changes of each commit.
    public func beginUnsafe(
        author: TransactionAuthor = .none, supportsUndo: Bool = false, sourceIdentifier: (any Hashable & Sendable)? = nil
    ) -> sending UnsafeTransaction {
        UnsafeTransaction(core, author: author, source: sourceIdentifier, supportsUndo: supportsUndo)
    }
}
