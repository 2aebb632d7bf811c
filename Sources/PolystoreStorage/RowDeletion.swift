/// A row to delete.
public struct RowDeletion: Sendable, Hashable {
    /// The primary key of the row.
    public let key: Int64
    /// The version that the stored row must have, or nil if any version is accepted.
    public let expectedVersion: Int64?
    /// The version that the row had when it was read, or 0 if it is not known. A store that repeats the deletion uses it.
    public let version: Int64

    /// Creates a deletion. `expectedVersion`, if given, is also the value of `version`.
    public init(key: Int64, expectedVersion: Int64? = nil, version: Int64 = 0) {
        self.key = key
        self.expectedVersion = expectedVersion
        self.version = expectedVersion ?? version
    }
}
