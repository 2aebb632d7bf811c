internal import PolystoreStorage

/// What a closure of `read` works with: fetches from one committed snapshot of each store.
public final class ReadTransaction: FetchSource {
    let context: ObjectContext
    private let sessions: SessionPool
    private let limit: WorkLimit

    /// Runs a closure; again where it came to a store that had committed together with an earlier one in between.
    static func run<R>(_ core: StackCore, _ limit: WorkLimit, _ body: (ReadTransaction) throws -> R) throws -> R {
        var stores: Set<Int> = []
        while true {
            let transaction = try ReadTransaction(core, limit, stores: stores)
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

    private init(_ core: StackCore, _ limit: WorkLimit, stores: Set<Int>) throws(StorageError) {
        self.limit = limit
        sessions = SessionPool(readingFrom: core, limit, isWhole: true)
        context = ObjectContext(stack: core, model: core.model)
        context.sessions = sessions
        try sessions.open(stores)
    }

    /// The stores that have to be opened at once, so that all are read as after the same commits; nil where they are.
    private var wanted: Set<Int>? { if case .opening(let stores)? = sessions.restart { stores } else { nil } }

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
