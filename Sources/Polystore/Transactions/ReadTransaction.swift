internal import PolystoreStorage

/// What a closure of `read` works with: fetches from one committed snapshot of each store.
public final class ReadTransaction: FetchSource {
    let context: ObjectContext
    private let sessions: SessionPool
    private let limit: WorkLimit

    init(_ core: StackCore, _ limit: WorkLimit) {
        self.limit = limit
        sessions = SessionPool(readingFrom: core, limit, isWhole: true)
        context = ObjectContext(stack: core, model: core.model)
        context.sessions = sessions
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
