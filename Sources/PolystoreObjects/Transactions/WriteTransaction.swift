public import PolystoreStorage

/// An atomic write transaction. Passed to the closure of `perform`.
public final class WriteTransaction: BaseTransaction {
    /// The number of times the closure was started, including this time. It exceeds 1 after a conflict with another transaction.
    public let attempt: Int

    private let sessions: SessionPool
    private let limit: WorkLimit

    init(
        _ core: StackCore, author: String, source: (any Hashable & Sendable)?, attempt: Int, limit: WorkLimit, isExclusive: Bool,
        stores: Set<Int>
    ) throws(StorageError) {
        self.limit = limit
        self.attempt = attempt
        sessions = try SessionPool(writingTo: core, WriteOptions(isExclusive: isExclusive, limit: limit), stores: stores)
        super.init(
            ObjectContext(stack: core, model: core.model), author: TransactionAuthor(author), source: source)
        context.sessions = sessions
        context.limit = limit
    }

    /// Ends the transaction without changes by throwing `cancelled`.
    public func cancel() throws(StorageError) -> Never {
        let error = StorageError(.cancelled, "the transaction was cancelled by its closure")
        sessions.doom(error)
        throw error
    }

    /// Throws if the transaction must end: what its next access to a store would throw.
    ///
    /// A closure that computes for a long time between two accesses calls this method now and then, so that it does not go on for nothing
    /// after its task was cancelled, its time has expired or the stack was shut down. The call does not access the stores and is cheap.
    /// - Throws: `cancelled`, `timeout`, or `storeClosed` after a shutdown and after the end of the transaction; the error of an earlier
    ///   access after which the transaction cannot continue.
    public func checkCancellation() throws(StorageError) {
        try checkOpen()
        try limit.check()
        try sessions.checkActive()
    }

    override func checkUsable() throws(StorageError) { try checkCancellation() }

    /// The context that fetches use.
    public override var _fetchContext: ObjectContext {
        get throws(StorageError) {
            try checkOpen()
            try limit.check()
            try context.flushBeforeFetch()
            return context
        }
    }

    /// The reason, other than a conflict, why the closure must run again.
    var restart: SessionPool.Restart? { sessions.restart }

    /// The conflict of this transaction with another one, whether or not the closure rethrew it.
    var conflict: StorageError? { sessions.doom.flatMap { $0.code == .serializationFailure ? $0 : nil } }

    /// Validates, writes and commits the changes.
    ///
    /// - Parameter turn: The turn that the transaction leaves once its changes are visible and it only waits for the disk.
    /// - Returns: The numbers of changed objects, which are counted only if measuring is enabled.
    func commit(_ turn: WorkTurn?) throws(StorageError) -> Measured.Counts {
        try sessions.checkActive()
        try limit.check()
        try context.throwFailure()
        try context.validate()
        try context.flush(isLast: true)
        try limit.check()
        var record = CommitRecord(author: author.name)
        if let turn { record.didBecomeVisible = { turn.leave() } }
        try sessions.commit(record, source: sourceIdentifier)
        var counts = Measured.Counts()
        if let tracker = context.tracker, context.stack.instrumentation != nil { counts = tracker.counts }
        finish()
        return counts
    }

    /// Releases all resources. Uncommitted changes are undone.
    func finish() {
        sessions.end()
        forgetTargets()
        context.tracker?.clear()
        context.tracker = nil
        context.sessions = nil
    }

    override func reserveKeys(_ place: KeyBlock.Place, count: Int) throws(StorageError) -> Range<Int64> {
        try sessions.working { () throws(StorageError) in
            try sessions.writer(place.store).reserveKeys(place.root, count: count)
        }
    }
}

extension WriteTransaction {
    /// Runs a part of the transaction that can fail individually: if the closure throws, only the changes of this part are undone.
    ///
    /// Parts can be nested. After a failure, objects that existed before have their former values, and objects that the part created are
    /// deleted. An error after which the engine cannot continue, such as a conflict with another transaction or a lost connection, ends the
    /// whole transaction, even if it is caught.
    /// - Returns: The result of the closure.
    /// - Throws: Any error of the closure, after this part was undone. Catch the error to continue with the rest of the transaction.
    public func nested<R>(_ body: () throws -> R) throws -> R {
        let part = try TransactionPart(self)
        do {
            let result = try body()
            try part.keep()
            return result
        } catch {
            part.undo()
            throw error
        }
    }

    /// Runs an operation that writes in several steps, so that an error undoes all of them.
    package func wholly<R>(_ body: () throws(StorageError) -> R) throws(StorageError) -> R {
        let part = try TransactionPart(self)
        do throws(StorageError) {
            let result = try body()
            try part.keep()
            return result
        } catch {
            part.undo()
            throw error
        }
    }
}

extension WriteTransaction {
    /// Executes an SQL statement that changes rows, on a store that supports SQL.
    ///
    /// ```swift
    /// try transaction.execute("UPDATE \(table: Person.self) SET \(column: \Person.age) = \(column: \Person.age) + 1")
    /// ```
    /// The statement sees the previous changes of the transaction. Afterwards the transaction's objects have the new values, and objects
    /// whose rows were removed are deleted. After the commit, contexts of the stack read all objects of the store again.
    ///
    /// The statement bypasses the layer that maintains the object graph. The history does not contain its changes, so other processes and
    /// observers by token do not receive them. Versions do not change unless the statement writes `"_version" = "_version" + 1`; without
    /// that, transactions that compare versions can overwrite its changes. Rules of the model and delete rules are not checked, and the
    /// statement is responsible for inverses and keys. Where possible, use `updateAll`, `insertAll`, `upsertAll` and `deleteAll`.
    /// - Parameters:
    ///   - sql: One statement: `INSERT`, `UPDATE`, `DELETE` or `MERGE`. An error undoes the whole statement.
    ///   - configuration: The configuration of the store; nil for the only store that holds the entities named in the statement.
    /// - Returns: The number of rows that the statement changed.
    /// - Throws: `unsupported` on a store without SQL, and at commit if another store commits for this one; `invalidPredicate` for any
    ///   other statement; `uniqueConstraintViolated`.
    @discardableResult
    public func execute(_ sql: RawSQL, in configuration: String? = nil) throws(StorageError) -> Int {
        try execute(sql, configuration, rows: { $0 }, { session throws(StorageError) in try session.execute(sql) })
    }

    /// Executes an SQL statement that changes rows, and returns those of its `RETURNING` clause, on a store that supports SQL.
    ///
    /// ```swift
    /// let rows = try transaction.executeReturning(
    ///     "UPDATE \(table: Job.self) SET \(column: \Job.isTaken) = \(true) WHERE \(column: \Job.self) = \(key) RETURNING \(column: \Job.name)")
    /// ```
    /// Everything else is as with `execute`.
    /// - Returns: The rows, with values in the representation of the engine.
    /// - Throws: As `execute`; `invalidPredicate` also for a statement without a `RETURNING` clause.
    public func executeReturning(_ sql: RawSQL, in configuration: String? = nil) throws(StorageError) -> [AttributeRow] {
        let answer = try execute(sql, configuration, rows: \.rows.count) { session throws(StorageError) in
            try session.executeReturning(sql)
        }
        return answer.rows.map { AttributeRow(names: answer.names, values: $0, form: .engine) }
    }

    private func execute<Answer>(
        _ sql: RawSQL, _ configuration: String?, rows: (Answer) -> Int, _ body: (WriteSession) throws(StorageError) -> Answer
    ) throws(StorageError) -> Answer {
        try reporting(functionName: "execute(_:in:)") { () throws(StorageError) in
            let context = try _fetchContext
            try context.checkFlushed()
            guard let sessions = context.sessions, let tracker = context.tracker else { throw SessionPool.ended }
            let store = try context.store(for: sql, configuration)
            let answer = try context.measured(.execute, RequestShape(sql), rows: rows) { () throws(StorageError) in
                try sessions.execute(in: store, body)
            }
            tracker.written.rows.isWritten = true
            tracker.written.rows.counts.updated += rows(answer)
            try context.refreshKnown(in: store)
            return answer
        }
    }
}
