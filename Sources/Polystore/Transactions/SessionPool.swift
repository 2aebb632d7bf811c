internal import Foundation
internal import PolystoreStorage

/// The sessions that a transaction or a read has open, one for each store, opened when a store is first touched.
final class SessionPool {
    /// Why a transaction that has done nothing wrong starts again.
    enum Restart {
        /// An earlier store was touched after a later one: all are opened in the fixed order then, so that two transactions can never
        /// wait for each other. Or a store that is read was touched after one that it has committed together with in between.
        case opening(Set<Int>)
        /// Stores commit together for the first time: the second of each pair notes the first before anything is written.
        case pairing([(store: Int, peer: UUID)])
    }

    /// What can still be done with the sessions.
    enum State {
        /// Everything.
        case active
        /// Something failed and was not undone: what is there may be half of a change, so the error is all that is left to throw.
        case doomed(StorageError)
        /// The closure is to run again.
        case restarting(Restart)
        /// Whether the first store committed is unknown.
        case inDoubt(StorageError)
        /// The first store has committed, and so have the others or will.
        case committed
        case ended
    }

    private(set) var state = State.active

    private let stack: StackCore
    private let options: WriteOptions?
    /// When the sessions have to give up.
    private let limit: WorkLimit?
    private let isMeasured: Bool
    private let isWhole: Bool
    /// What the stack had committed over several stores when the first was opened.
    private var mark: JointCommits.Mark?
    private var readers: [Int: ReadSession] = [:]
    private var writers: [Int: WriteSession] = [:]
    /// How many sessions that read were opened so far.
    private(set) var openings = 0
    /// The stores that changes were applied to, with what the others have to keep of them until they have committed.
    private var redo: [Int: Redo.Recorder?] = [:]
    /// The stores in which statements of the program changed rows that nobody wrote down.
    private var executed: Set<Int> = []
    /// The marks of the savepoints that are set, innermost last.
    private var savepoints: [Savepoint] = []
    /// The session that was asked for last: nearly always it is the next one too.
    @exclusivity(unchecked) private var last: (store: Int, reader: ReadSession)?

    private struct Savepoint {
        var marks: [Int: Int] = [:]
        let redo: [Int: Redo.Recorder?]
        let executed: Set<Int>
        /// Whether a store is part of it that cannot return to it.
        var isIncomplete = false
    }

    /// Sessions that read.
    ///
    /// - Parameter isWhole: Whether all stores are read as after the same commits. Where one is touched late and has committed together with
    ///   an earlier one in between, the work starts again.
    init(readingFrom stack: StackCore, _ limit: WorkLimit? = nil, isMeasured: Bool = false, isWhole: Bool = false) {
        self.stack = stack
        self.limit = limit
        self.isWhole = isWhole
        self.isMeasured = isMeasured
        options = nil
    }

    /// Sessions that write; the stores in `stores` are opened at once, in their order.
    init(writingTo stack: StackCore, _ options: WriteOptions, stores: Set<Int>) throws(StorageError) {
        self.stack = stack
        self.options = options
        limit = options.limit
        isMeasured = false
        isWhole = false
        for store in try stack.lockOrder(stores) { _ = try writer(store) }
    }

    /// The session of a store: the writer's in a write transaction.
    @inline(__always)
    func reader(_ store: Int) throws(StorageError) -> ReadSession {
        if let last, last.store == store { return last.reader }
        return try findReader(store)
    }

    private func findReader(_ store: Int) throws(StorageError) -> ReadSession {
        try checkActive()
        let reader: ReadSession
        // One that nobody writes to through this stack is read as it is.
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
        let reader = isMeasured ? begun.through(MeasuredReader.init) : begun
        readers[store] = reader
        openings += 1
        return reader
    }

    /// Opens several stores to be read as after the same commits.
    func open(_ stores: Set<Int>) throws(StorageError) {
        if options != nil { return }
        let opened = Set(readers.keys), missing = stores.subtracting(opened)
        if missing.isEmpty { return }
        let all = opened.union(missing)
        if all.count > 1 {
            if try stack.joint.openUndisturbed(all, { () throws(StorageError) in try begin(missing, after: opened) }) { return }
            for store in missing { readers.removeValue(forKey: store)?.end() }
            // In some stores a commit waits for whoever reads, so who has to wait for one reads nothing meanwhile.
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
        for store in missing { _ = try begin(store) }
    }

    /// What was asked of each store, where that is measured.
    var work: [Int: Explanation.Work] { readers.compactMapValues { ($0.reader as? MeasuredReader)?.work } }

    /// The write session of a store.
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
            var options = options
            // Whoever has locks on one server waits for another's only briefly: see `conflict(_:)`.
            if !options.isExclusive, opened.commitRank == .server, serverCount > 0 {
                options.timeout = min(options.timeout, Self.patience)
            }
            let writer = try stack.beginWrite(store, options)
            writers[store] = writer
            for level in savepoints.indices { try mark(&savepoints[level], store, writer) }
            return writer
        }
    }

    /// Brings changes to a store.
    func apply(_ changes: ChangeSet, to store: Int) throws(StorageError) {
        try working { () throws(StorageError) in
            try changingWriter(store).apply(changes)
            try redo[store]??.add(changes)
        }
    }

    /// Brings an upsert to a store.
    func upsert(_ upsert: RowUpsert, to store: Int) throws(StorageError) -> [UpsertedRow] {
        try working { () throws(StorageError) in
            let result = try changingWriter(store).upsert(upsert)
            // What the store decided is what a store that follows has to do.
            if redo[store] ?? nil != nil { try redo[store]??.add(try upsert.changes(result, stack.model.schema)) }
            return result
        }
    }

    /// Changes rows of a store in its engine; nil where rows have to be read and written, also where another store has to follow.
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

    /// Runs a statement of the program in a store. After an error of the statement nothing of it is there, and the session goes on.
    func execute(_ sql: RawSQL, in store: Int) throws(StorageError) -> Int {
        let writer = try changingWriter(store)
        let count = try working(unless: \.isUndoable) { () throws(StorageError) in try writer.execute(sql) }
        executed.insert(store)
        return count
    }

    /// Keeps bytes beside the data of a store.
    func setNotes(in store: Int, _ body: (WriteSession) throws(StorageError) -> Void) throws(StorageError) {
        try working { () throws(StorageError) in try body(try changingWriter(store)) }
    }

    /// The write session of a store that is about to be changed.
    private func changingWriter(_ store: Int) throws(StorageError) -> WriteSession {
        // The first to commit keeps the changes of the others, so those of a store that is always first need not be written down.
        if redo[store] == nil { redo[store] = stack.canFollow(store) ? Redo.Recorder(stack.model.schema) : .some(nil) }
        return try writer(store)
    }

    /// Commits the write sessions: all or, after a crash, all as soon as somebody writes to one of them again. Whoever observes the stack is
    /// told.
    ///
    /// - Parameters:
    ///   - record: Who commits.
    ///   - source: What the program knows the transaction by.
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

    /// - Throws: Why nothing more can be done: what failed first, that the closure starts again, that all is over.
    func checkActive() throws(StorageError) {
        switch state {
        case .active: return
        case .doomed(let error), .inDoubt(let error): throw error
        case .restarting: throw Self.restarting
        case .committed, .ended: throw Self.ended
        }
    }

    /// Why the closure has to run again, other than a conflict.
    var restart: Restart? { if case .restarting(let restart) = state { restart } else { nil } }

    /// Why the transaction can only be rolled back; nil while it can go on.
    var doom: StorageError? { if case .doomed(let error) = state { error } else { nil } }

    /// Whether the changes are there for good.
    var isCommitted: Bool { if case .committed = state { true } else { false } }

    private func restart(_ restart: Restart) {
        state = .restarting(restart)
        last = nil
    }

    /// Makes a write transaction one that can only fail: what the sessions hold is not known any more.
    func doom(_ error: StorageError) {
        guard options != nil, case .active = state else { return }
        state = .doomed(error)
        last = nil
    }

    /// Runs work of the sessions. An error dooms the transaction, because half of the work may be done, unless it is one that leaves nothing
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

    /// What a lock that did not come in time means to a transaction over several servers: another one may have it and wait for this one, a
    /// cycle that no server sees. One of them has to run again.
    @inline(never)
    private func conflict(_ error: StorageError) -> StorageError {
        guard error.code == .busy, serverCount > 1 else { return error }
        return StorageError(
            .serializationFailure, "a transaction over several servers waited for another one, which may wait for it; run it again",
            cause: error)
    }

    /// On how many servers the transaction has locks.
    private var serverCount: Int { writers.values.count { $0.store.commitRank == .server } }

    /// Seconds that a transaction with locks on one server waits for those of another.
    private static let patience: TimeInterval = 2

    /// Runs work that writes, as a whole or not at all: an error that the engines survive undoes it, and the transaction goes on.
    func atomically(_ body: () throws(StorageError) -> Void) throws(StorageError) {
        try savepoint()
        do throws(StorageError) {
            try body()
            try releaseSavepoint()
        } catch {
            // Where it cannot be undone the transaction is doomed, and says so at its end.
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

    /// Marks this moment in every store; marks nest.
    func savepoint() throws(StorageError) {
        try checkActive()
        try working { () throws(StorageError) in
            var savepoint = Savepoint(redo: redo, executed: executed)
            for (store, writer) in writers { try mark(&savepoint, store, writer) }
            savepoints.append(savepoint)
        }
    }

    /// Undoes everything since the innermost mark, and forgets it. What doomed the transaction since then is undone with it, where the
    /// engines survived it.
    func rollbackToSavepoint() throws(StorageError) {
        guard let savepoint = savepoints.popLast() else { return }
        if let doom, doom.code.isUndoable, !savepoint.isIncomplete { state = .active }
        try checkActive()
        redo = savepoint.redo
        executed = savepoint.executed
        if savepoint.isIncomplete {
            doom(StorageError(.unsupported, "a store without savepoints was written to in a part that failed; run the transaction again"))
            try checkActive()
        }
        try working { () throws(StorageError) in
            for (store, mark) in savepoint.marks {
                try writers[store]?.rollback(to: mark)
                try writers[store]?.release(mark)
            }
        }
    }

    /// Keeps everything since the innermost mark, and forgets it.
    func releaseSavepoint() throws(StorageError) {
        try checkActive()
        guard let savepoint = savepoints.last else { return }
        try working { () throws(StorageError) in
            for (store, mark) in savepoint.marks { try writers[store]?.release(mark) }
        }
        // After the release: what fails here is undone by whoever returns to this mark, not to the one around it.
        savepoints.removeLast()
    }

    /// Lets go of the snapshots of sessions that read; the next look opens others.
    func letGo() { if options == nil { endAll() } }

    /// Ends all sessions; what was not committed is undone.
    func end() {
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

    /// What a transaction throws that starts again for a reason of its own.
    private static var restarting: StorageError {
        StorageError(.serializationFailure, "the transaction has to open its stores in another order and starts again")
    }

    static var ended: StorageError {
        StorageError(.storeClosed, "the transaction has ended; start another with perform or read")
    }
}
