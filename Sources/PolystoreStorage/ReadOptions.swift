/// The options of a read session.
public struct ReadOptions: Sendable {
    /// The limit after which the session must give up, or nil for no limit.
    public var limit: WorkLimit?

    /// Whether a write transaction waits for this session. Such a session must not wait for other read sessions.
    public var isForWriter: Bool

    /// Creates options, by default without a limit.
    public init(limit: WorkLimit? = nil, isForWriter: Bool = false) {
        self.limit = limit
        self.isForWriter = isForWriter
    }
}
