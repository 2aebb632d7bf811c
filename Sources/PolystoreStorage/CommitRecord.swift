/// The author and the time of a commit.
public struct CommitRecord: Sendable {
    /// The author that the program gives, or an empty string.
    public var author: String
    /// The time of the commit in microseconds since 1970, or nil for the current time.
    public var time: Int64?
    /// A function that the store may call during the commit, on the thread of the transaction, once all that remains is to wait until the
    /// commit is durable. The next transaction may then begin.
    package var didBecomeVisible: (@Sendable () -> Void)?

    /// Creates a record, by default without an author and with the current time.
    public init(author: String = "", time: Int64? = nil) {
        self.author = author
        self.time = time
    }
}
