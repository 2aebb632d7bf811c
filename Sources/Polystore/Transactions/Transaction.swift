internal import PolystoreStorage

/// What a closure of `perform` works with: all or nothing.
public final class Transaction: BaseTransaction {
    /// How often the closure was started, this time included; more than 1 after a conflict with another transaction.
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

    /// Ends the transaction without a change, by throwing `cancelled`.
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

    /// Why the closure has to run again, other than a conflict.
    var restart: SessionPool.Restart? { sessions.restart }

    /// The conflict with another transaction that this one met, whether or not the closure threw it on.
    var conflict: StorageError? { sessions.doom.flatMap { $0.code == .serializationFailure ? $0 : nil } }

    /// Checks, writes and commits.
    ///
    /// - Returns: The numbers of objects that were changed, which are counted only where somebody measures.
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

    /// Lets go of everything; what was not committed is undone.
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
