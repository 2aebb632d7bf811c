internal import PolystoreStorage

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
        sessions = try SessionPool(writingTo: core, limit.options(isExclusive: isExclusive), stores: stores)
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

    /// The context that fetches use.
    public override var _fetchContext: ObjectContext {
        get throws(StorageError) {
            try checkOpen()
            try limit.check()
            try context.flush()
            return context
        }
    }

    /// The reason, other than a conflict, why the closure must run again.
    var restart: SessionPool.Restart? { sessions.restart }

    /// The conflict of this transaction with another one, whether or not the closure rethrew it.
    var conflict: StorageError? { sessions.doom.flatMap { $0.code == .serializationFailure ? $0 : nil } }

    /// Validates, writes and commits the changes.
    ///
    /// - Returns: The numbers of changed objects, which are counted only if measuring is enabled.
    func commit() throws(StorageError) -> Measured.Counts {
        try sessions.checkActive()
        try limit.check()
        try context.throwFailure()
        try context.validate()
        try context.flush(isLast: true)
        try limit.check()
        try sessions.commit(CommitRecord(author: author.name), source: sourceIdentifier)
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
