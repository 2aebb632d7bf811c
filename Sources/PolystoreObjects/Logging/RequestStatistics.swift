internal import PolystoreStorage

/// The statistics of a stack about its requests of one form.
public struct RequestStatistics: Sendable, CustomStringConvertible {
    /// The kind of the requests.
    public let kind: RequestReport.Kind
    /// The stored name of the entity; nil for SQL.
    public let entity: String?
    /// The form of the requests without their values, such as `Person where age > ? order by name limit 10`.
    public let shape: String
    /// The number of requests.
    public internal(set) var count = 0
    /// The number of requests that failed.
    public internal(set) var failures = 0
    /// The number of objects, ids or rows in all answers.
    public internal(set) var rows = 0
    /// The total time of the requests.
    public internal(set) var duration = Duration.zero
    /// The time of the slowest request.
    public internal(set) var longest = Duration.zero
    /// The slowest request, with its values; nil for requests without a condition or an order.
    package internal(set) var slowest: ObjectRequest?

    init(_ report: RequestReport) {
        kind = report.kind
        entity = report.entity
        shape = report.shape
    }

    /// The statistics on one line.
    public var description: String {
        "\(kind.rawValue) \(shape): \(count) request\(count == 1 ? "" : "s"), \(rows) row\(rows == 1 ? "" : "s") in "
            + "\(duration.formattedMilliseconds) ms, at most \(longest.formattedMilliseconds) ms"
    }

    mutating func add(_ report: RequestReport, _ request: ObjectRequest?) {
        count += 1
        rows += report.rows
        duration += report.duration
        if report.failure != nil {
            // Nothing can be said about how a request that failed would be answered.
            failures += 1
            longest = max(longest, report.duration)
            return
        }
        if report.duration < longest { return }
        longest = report.duration
        slowest = request
    }
}
