public import PolystoreStorage

/// The report of a stack about a completed transaction or read.
public struct TransactionReport: Sendable {
    /// The kinds of work.
    public enum Kind: String, Sendable {
        /// A closure of `perform`.
        case write
        /// A closure of `read`.
        case read
        /// A commit of a detached transaction.
        case commit
    }

    /// The kind of work.
    public let kind: Kind
    /// The author that is recorded in the history.
    public let author: String
    /// The time from the call to the end.
    public let duration: Duration
    /// The number of times the closure was started. It exceeds 1 after conflicts.
    public let attempts: Int
    /// The number of created objects.
    public let inserted: Int
    /// The number of changed objects.
    public let updated: Int
    /// The number of deleted objects.
    public let deleted: Int
    /// The code of the failure; nil without a failure. The program's own errors have no code.
    public let failure: StorageError.Code?
    /// Whether the work succeeded.
    public let isSuccess: Bool
}
