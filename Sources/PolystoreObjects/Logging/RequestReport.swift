public import PolystoreStorage

/// The report of a stack about a completed request: of the stack itself, a transaction, a read, or a context.
public struct RequestReport: Sendable, CustomStringConvertible {
    /// The kinds of requests.
    public enum Kind: String, Sendable {
        /// A fetch of objects.
        case fetch
        /// A fetch of one page of objects.
        case page
        /// A fetch of objects by a cursor, a stream or `forEach`, reported at its end.
        case cursor
        /// A fetch of ids.
        case ids
        /// A lookup of objects by their ids.
        case lookup
        /// The load of a relationship that was not prefetched.
        case relationship
        /// A number of objects.
        case count
        /// A query for values.
        case values
        /// A query in SQL.
        case sql
        /// A statement in SQL that changes rows.
        case execute
    }

    /// The kind of request.
    public let kind: Kind
    /// The stored name of the entity; nil for SQL.
    public let entity: String?
    /// The form of the request without its values, such as `Person where age > ? order by name limit 10`; for SQL the statement, with `?`
    /// for bindings and quoted texts.
    public let shape: String
    /// The time that the request took. For a cursor it is the time in which batches were read.
    public let duration: Duration
    /// The number of objects, ids or rows in the answer, and of the rows that a statement changed.
    public let rows: Int
    /// The code of the failure; nil without a failure.
    public let failure: StorageError.Code?

    /// The report on one line, without values.
    public var description: String {
        let end = failure.map { "failed with \($0)" } ?? "\(rows) row\(rows == 1 ? "" : "s")"
        return "\(kind.rawValue) \(shape): \(end) in \(duration.formattedMilliseconds) ms"
    }
}

extension Duration {
    /// The duration in milliseconds with three digits after the point.
    package var formattedMilliseconds: String {
        let microseconds = self / .microseconds(1)
        let (whole, rest) = Int64(microseconds.rounded()).quotientAndRemainder(dividingBy: 1000)
        return "\(whole).\(String(1000 + rest).dropFirst())"
    }
}
