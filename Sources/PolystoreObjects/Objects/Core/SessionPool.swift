internal import PolystoreFoundation
internal import PolystoreStorage

/// The open sessions of a transaction or a read, one for each store, opened at the first access to the store.
package final class SessionPool {
    /// The reason for which a transaction starts again without an error of its own.
    enum Restart {
        /// An earlier store was accessed after a later one: all are then opened in the fixed order, so that two transactions can never wait
        /// for each other. Or a store that is read was accessed after another one with which it has committed jointly in between.
        case opening(Set<Int>)
        /// Stores commit jointly for the first time: the second of each pair records the first before anything is written.
        case pairing([(store: Int, peer: UUID)])
    }

    /// The operations that are still possible.
    enum State {
        /// All operations.
        case active
        /// An operation failed and was not undone: the sessions may contain half of a change, so only the error can be thrown.
        case doomed(StorageError)
        /// The closure must run again.
        case restarting(Restart)
        /// The commit of the first store is in doubt.
        case inDoubt(StorageError)
        /// The first store has committed, and the others have committed or will.
        case committed
        case ended
    }

    private(set) var state = State.active

    private let stack: StackCore
    private let options: WriteOptions?
    /// The time limit of the sessions.
    private let limit: WorkLimit?
    private let isMeasured: Bool
    private let isWhole: Bool
    private let recorder: ReadRecorder?
    /// The mark of the joint commits of the stack when the first session was opened.
    private var mark: JointCommits.Mark?
    private var readers: [Int: ReadSession] = [:]
    private var writers: [Int: WriteSession] = [:]
    /// The number of read sessions opened so far.
    private(set) var openings = 0
    /// The stores with changes, and the redo records of them that the others must keep until they have committed.
    private var redo: [Int: Redo.Recorder?] = [:]
    /// The stores in which SQL statements of the program changed rows that no component recorded.
    private var executed: Set<Int> = []
    /// The marks of the active savepoints, innermost last.
    private var savepoints: [Savepoint] = []
    /// The most recently used session, which is usually the next one too.
    @exclusivity(unchecked) private var last: (store: Int, reader: ReadSession)?

    private struct Savepoint {
        var marks: [Int: Int] = [:]
        let redo: [Int: Redo.Recorder?]
        let executed: Set<Int>
        /// Whether a store without savepoints is part of it.
        var isIncomplete = false
    }

    /// Creates read sessions.
    ///
    /// - Parameters:
    ///   - isWhole: Whether all stores are read in snapshots after the same commits. If a store is accessed late and has committed jointly
    ///     with an earlier one in between, the work starts again.
    ///   - recorder: The record of what is read; nil for none.
    package init(
        readingFrom stack: StackCore, _ limit: WorkLimit? = nil, isMeasured: Bool = false, isWhole: Bool = false,
        recorder: ReadRecorder? = nil
    ) {
        self.recorder = recorder
        self.stack = stack
        self.limit = limit
        self.isWhole = isWhole
        self.isMeasured = isMeasured
        options = nil
    }

    /// Creates write sessions. The stores in `stores` are opened immediately, in lock order, and only for reading if they are read-only.
    init(writingTo stack: StackCore, _ options: WriteOptions, stores: Set<Int>) throws(StorageError) {
        self.stack = stack
        self.options = options
        limit = options.limit
        recorder = nil
        isMeasured = false
        isWhole = false
        for store in try stack.lockOrder(stores) { _ = try findReader(store) }
    }

    /// Returns the session of a store, in a write transaction that of the writer.
    @inline(__always)
    package func reader(_ store: Int) throws(StorageError) -> ReadSession {
        if let last, last.store == store { return last.reader }
        return try findReader(store)
    }

    private func findReader(_ store: Int) throws(StorageError) -> ReadSession {
        try checkActive()
        let reader: ReadSession
        // A store that is read-only for this stack needs no writer.
        if options != nil, try !stack.store(store).state.isReadOnly {
            reader = try writer(store)
        } else if let known = readers[store] {
            reader = known
        } else {
            reader = try open(store)
        }
        last = (store, reader)
        return reader
    }

    private func open(_ store: Int) throws(StorageError) -> ReadSession {
        if isWhole { try open([store]) }
        if let reader = readers[store] { return reader }
        return try begin(store)
    }

    private func begin(_ store: Int) throws(StorageError) -> ReadSession {
        let begun = try stack.store(store).beginRead(ReadOptions(limit: limit))
        var reader = isMeasured ? begun.through(MeasuredReader.init) : begun
        if let recorder { reader = reader.through { RecordedReader($0, recorder) } }
        readers[store] = reader
        openings += 1
        return reader
    }

    /// Opens several stores in snapshots after the same commits.
    func open(_ stores: Set<Int>) throws(StorageError) {
        if options != nil { return }
        let opened = Set(readers.keys), missing = stores.subtracting(opened)
        if missing.isEmpty { return }
        let all = opened.union(missing)
        if all.count > 1 {
            var isUndisturbed = false
            // A session that was begun before an error has not been checked for joint commits either.
            defer { if !isUndisturbed { for store in missing { readers.removeValue(forKey: store)?.end() } } }
            isUndisturbed = try stack.joint.openUndisturbed(all) { () throws(StorageError) in try begin(missing, after: opened) }
            if isUndisturbed { return }
            // In some stores a commit waits for readers, so a reader that must wait for a commit may hold no snapshot meanwhile.
            if isWhole, !opened.isEmpty {
                restart(.opening(all))
                throw Self.restarting
            }
        }
        try stack.joint.open(all, limit) { () throws(StorageError) in try begin(missing, after: opened) }
    }

    private func begin(_ missing: Set<Int>, after opened: Set<Int>) throws(StorageError) {
        if isWhole, let mark, stack.joint.hasCommitted(over: opened, and: missing, since: mark) {
            restart(.opening(opened.union(missing)))
            throw Self.restarting
        }
        if mark == nil { mark = stack.joint.mark }
        do throws(StorageError) {
            for store in missing { _ = try begin(store) }
            // A store that was removed since, and perhaps added again, has another position in later joint commits, which would not be
            // found.
            if isWhole { for store in opened { _ = try stack.store(store) } }
        } catch {
            for store in missing { readers.removeValue(forKey: store)?.end() }
            throw error
        }
    }

    /// The sessions that count, by store, if the pool is measured.
    var measured: [Int: MeasuredReader] { readers.compactMapValues { $0.reader as? MeasuredReader } }

    /// Returns the write session of a store.
    func writer(_ store: Int) throws(StorageError) -> WriteSession {
        try checkActive()
        guard let options else { throw Self.ended }
        if let writer = writers[store] { return writer }
        let opened = try stack.store(store)
        if writers.values.contains(where: { $0.store.lockPlace > opened.lockPlace }) {
            restart(.opening(Set(writers.keys).union([store])))
            throw Self.restarting
        }
        return try working { () throws(StorageError) in
            // A store that was removed, and added again, would wait for the end of the session that this transaction has in it.
            for known in writers.keys { _ = try stack.store(known) }
            var options = options
            // A transaction with locks on one server waits only briefly for those of another: see `conflict(_:)`.
            if !options.isExclusive, opened.commitRank == .server, serverCount > 0 {
                options.timeout = min(options.timeout, Self.patience)
            }
            let writer = try stack.beginWrite(store, options)
            writers[store] = writer
            for level in savepoints.indices { try mark(&savepoints[level], store, writer) }
            return writer
        }
    }

    /// Applies changes to a store.
    func apply(_ changes: ChangeSet, to store: Int) throws(StorageError) {
        try working { () throws(StorageError) in
            try changingWriter(store).apply(changes)
            try redo[store]??.add(changes)
        }
    }

    /// Applies an upsert to a store.
    func upsert(_ upsert: RowUpsert, to store: Int) throws(StorageError) -> [UpsertedRow] {
        try working { () throws(StorageError) in
            let result = try changingWriter(store).upsert(upsert)
            // A store that follows must repeat the result of the upsert.
            if redo[store] ?? nil != nil { try redo[store]??.add(try upsert.changes(result, stack.model.schema)) }
            return result
        }
    }

    /// Updates rows of a store in its engine; nil if rows must be read and written, including if another store must follow.
    func updateAll(_ update: BatchUpdate, in store: Int) throws(StorageError) -> [EntityIndex: [Int64]]? {
        try working { () throws(StorageError) in
            let writer = try changingWriter(store)
            return redo[store] ?? nil == nil ? try writer.updateAll(update) : nil
        }
    }

    /// Deletes rows of a store in its engine; nil as in `updateAll`.
    func deleteAll(_ plan: FetchPlan, in store: Int) throws(StorageError) -> [EntityIndex: [Int64]]? {
        try working { () throws(StorageError) in
            let writer = try changingWriter(store)
            return redo[store] ?? nil == nil ? try writer.deleteAll(plan) : nil
        }
    }

    /// Runs an SQL statement of the program in a store. A failed statement leaves no changes, and the session can continue.
    func execute<Answer>(
        in store: Int, _ body: (WriteSession) throws(StorageError) -> Answer
    ) throws(StorageError) -> Answer {
        let writer = try changingWriter(store)
        let answer = try working(unless: \.isUndoable) { () throws(StorageError) in try body(writer) }
        executed.insert(store)
        return answer
    }

    /// Stores bytes beside the data of a store.
    func setNotes(in store: Int, _ body: (WriteSession) throws(StorageError) -> Void) throws(StorageError) {
        try working { () throws(StorageError) in try body(try changingWriter(store)) }
    }

    /// Returns the write session of a store that is about to be changed.
    private func changingWriter(_ store: Int) throws(StorageError) -> WriteSession {
        // The first store to commit stores the changes of the others, so those of a store that is always first need not be recorded.
        if redo[store] == nil { redo[store] = stack.canFollow(store) ? Redo.Recorder(stack.model.schema) : .some(nil) }
        return try writer(store)
    }

    /// Commits the write sessions: all or, after a crash, all as soon as a transaction writes to one of them again. The observers of the
    /// stack are notified.
    ///
    /// - Parameters:
    ///   - record: The author and other data of the commit.
    ///   - source: The source identifier given by the program.
    func commit(_ record: CommitRecord, source: (any Hashable & Sendable)? = nil) throws(StorageError) {
        try checkActive()
        state = .ended
        defer { endAll() }
        let commit = JointCommit(stack, writers, redo: redo, executed: executed, record, limit)
        do throws(StorageError) {
            try commit.run(source)
        } catch {
            switch commit.outcome {
            case .committed: state = .committed
            case .inDoubt: state = .inDoubt(error)
            case .open: if !commit.strangers.isEmpty { restart(.pairing(commit.strangers)) }
            }
            throw error
        }
        state = .committed
    }

    // MARK: The state

    /// - Throws: The reason for which no operation is possible: the first failure, the restart of the closure, or the end of the sessions.
    func checkActive() throws(StorageError) {
        switch state {
        case .active: return
        case .doomed(let error), .inDoubt(let error): throw error
        case .restarting: throw Self.restarting
        case .committed, .ended: throw Self.ended
        }
    }

    /// The reason for which the closure must run again, other than a conflict.
    var restart: Restart? { if case .restarting(let restart) = state { restart } else { nil } }

    /// The error for which the transaction can only be rolled back; nil while it can continue.
    var doom: StorageError? { if case .doomed(let error) = state { error } else { nil } }

    /// Whether the changes are committed.
    var isCommitted: Bool { if case .committed = state { true } else { false } }

    private func restart(_ restart: Restart) {
        state = .restarting(restart)
        last = nil
    }

    /// Dooms a write transaction, because the contents of the sessions are unknown.
    func doom(_ error: StorageError) {
        guard options != nil, case .active = state else { return }
        state = .doomed(error)
        last = nil
    }

    /// Runs work of the sessions. An error dooms the transaction, because half of the work may be done, unless the error leaves no changes
    /// behind.
    @inline(__always)
    func working<R>(
        unless isHarmless: (StorageError.Code) -> Bool = { _ in false }, _ body: () throws(StorageError) -> R
    ) throws(StorageError) -> R {
        do throws(StorageError) { return try body() } catch {
            let error = conflict(error)
            if !isHarmless(error.code) { doom(error) }
            throw error
        }
    }

    /// Returns the error for a lock timeout in a transaction over several servers: another transaction may hold the lock and wait for this
    /// one, a cycle that no server detects. One of them must run again.
    @inline(never)
    private func conflict(_ error: StorageError) -> StorageError {
        guard error.code == .busy, serverCount > 1 else { return error }
        return StorageError(
            .serializationFailure, "a transaction over several servers waited for another one, possibly in a deadlock; run it again",
            cause: error)
    }

    /// The number of servers on which the transaction has locks.
    private var serverCount: Int { writers.values.count { $0.store.commitRank == .server } }

    /// Seconds that a transaction with locks on one server waits for those of another.
    private static let patience: TimeInterval = 2

    /// Runs writes atomically: an error that the engines survive undoes them, and the transaction can continue.
    func atomically(_ body: () throws(StorageError) -> Void) throws(StorageError) {
        try savepoint()
        do throws(StorageError) {
            try body()
            try releaseSavepoint()
        } catch {
            // If they cannot be undone, the transaction is doomed and throws the error at its end.
            try? rollbackToSavepoint()
            throw error
        }
    }

    // MARK: Savepoints

    private func mark(_ savepoint: inout Savepoint, _ store: Int, _ writer: WriteSession) throws(StorageError) {
        if try stack.store(store).capabilities.contains(.savepoints) {
            savepoint.marks[store] = try writer.savepoint()
        } else {
            savepoint.isIncomplete = true
        }
    }

    /// Sets a savepoint in every store. Savepoints nest.
    func savepoint() throws(StorageError) {
        try checkActive()
        try working { () throws(StorageError) in
            var savepoint = Savepoint(redo: redo, executed: executed)
            for (store, writer) in writers { try mark(&savepoint, store, writer) }
            savepoints.append(savepoint)
        }
    }

    /// Rolls back to the innermost savepoint and removes it. An error that doomed the transaction since then is undone too, if the engines
    /// survived it.
    func rollbackToSavepoint() throws(StorageError) {
        guard let savepoint = savepoints.popLast() else { return }
        if let doom, doom.code.isUndoable, !savepoint.isIncomplete { state = .active }
        try checkActive()
        redo = savepoint.redo
        executed = savepoint.executed
        if savepoint.isIncomplete {
            doom(
                StorageError(
                    .unsupported,
                    "a failed part of the transaction wrote to a store without savepoints and cannot be rolled back alone; run the transaction again"
                ))
            try checkActive()
        }
        try working { () throws(StorageError) in
            for (store, mark) in savepoint.marks {
                try writers[store]?.rollback(to: mark)
                try writers[store]?.release(mark)
            }
        }
    }

    /// Keeps all changes since the innermost savepoint and removes it.
    func releaseSavepoint() throws(StorageError) {
        try checkActive()
        guard let savepoint = savepoints.last else { return }
        try working { () throws(StorageError) in
            for (store, mark) in savepoint.marks { try writers[store]?.release(mark) }
        }
        // After the release: a rollback to this savepoint, not to the enclosing one, undoes a failure of the release.
        savepoints.removeLast()
    }

    /// Releases the snapshots of read sessions. The next read opens others.
    package func letGo() { if options == nil { endAll() } }

    /// Ends all sessions. Uncommitted changes are undone.
    package func end() {
        if case .active = state { state = .ended }
        endAll()
    }

    private func endAll() {
        last = nil
        for reader in readers.values { reader.end() }
        for writer in writers.values { writer.end() }
        readers.removeAll()
        writers.removeAll()
    }

    /// The error of a transaction that starts again for an internal reason.
    private static var restarting: StorageError {
        StorageError(.serializationFailure, "the transaction must open its stores in another order; it starts again")
    }

    static var ended: StorageError {
        StorageError(.storeClosed, "the transaction has ended; start another one with perform or read")
    }
}
