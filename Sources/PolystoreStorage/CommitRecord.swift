/// The author and the time of a commit.
public struct CommitRecord: Sendable {
    /// The author that the program gives, or an empty string.
    public var author: String
    /// The time of the commit in microseconds since 1970, or nil for the current time.
    public var time: Int64?

    /// Creates a record, by default without an author and with the current time.
    public init(author: String = "", time: Int64? = nil) {
        self.author = author
        self.time = time
    }
}
