internal import PolystoreStorage

/// A read-only transaction over one committed snapshot of each store. Passed to the closure of `read`.
public final class ReadTransaction: FetchSource {
    let context: ObjectContext
    private let sessions: SessionPool
    private let limit: WorkLimit

    /// Runs a closure. Runs it again if it accessed a store that had committed, in the meantime, together with a store it accessed before.
    ///
    /// - Parameter recorder: The record of what the closure reads; nil for none.
    package static func run<R>(
        _ core: StackCore, _ limit: WorkLimit, recorder: ReadRecorder? = nil, _ body: (ReadTransaction) throws -> R
    ) throws -> R {
        var stores: Set<Int> = []
        while true {
            let transaction = try ReadTransaction(core, limit, recorder, stores: stores)
            defer { transaction.finish() }
            let result = Result {
                let result = try body(transaction)
                try transaction.context.throwFailure()
                return result
            }
            guard let wanted = transaction.wanted else { return try result.get() }
            stores = wanted
        }
    }

    private init(_ core: StackCore, _ limit: WorkLimit, _ recorder: ReadRecorder?, stores: Set<Int>) throws(StorageError) {
        self.limit = limit
        sessions = SessionPool(readingFrom: core, limit, isWhole: true, recorder: recorder)
        context = ObjectContext(stack: core, model: core.model)
        context.sessions = sessions
        try sessions.open(stores)
    }

    /// The stores that must be opened together so that all are read after the same commits; nil if no restart is required.
    private var wanted: Set<Int>? { if case .opening(let stores)? = sessions.restart { stores } else { nil } }

    /// Throws if the read must end: what its next access to a store would throw.
    ///
    /// A closure that computes for a long time between two accesses calls this method now and then, so that it does not go on for nothing
    /// after its task was cancelled, its time has expired or the stack was shut down. The call does not access the stores and is cheap.
    /// - Throws: `cancelled`, `timeout`, or `storeClosed` after a shutdown and after the end of the read.
    public func checkCancellation() throws(StorageError) {
        if context.sessions == nil { throw SessionPool.ended }
        try limit.check()
        try sessions.checkActive()
    }

    /// The context that fetches use.
    public var _fetchContext: ObjectContext {
        get throws(StorageError) {
            if context.sessions == nil { throw SessionPool.ended }
            try limit.check()
            return context
        }
    }

    func finish() {
        sessions.end()
        context.sessions = nil
    }
}

extension ReadTransaction: QuerySource {
    /// Runs a closure with the context of the read.
    public func _withQueryContext<R>(
        _ includesPendingChanges: Bool, _ body: (ObjectContext) throws(StorageError) -> R
    ) throws(StorageError) -> R { try body(try _fetchContext) }
}
