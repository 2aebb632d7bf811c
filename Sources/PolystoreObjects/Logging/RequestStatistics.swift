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
    /// The slowest request that did not fail, except by its time limit, with its values. Long lists are shortened.
    package internal(set) var slowest: RecordedRequest?
    private var longestKept = Duration.zero

    init(_ report: RequestReport, shape: String) {
        kind = report.kind
        entity = report.entity
        self.shape = shape
    }

    /// The statistics on one line, with the number of failures if there are any.
    public var description: String {
        "\(kind.rawValue) \(shape): \(count) request\(count == 1 ? "" : "s")\(failures == 0 ? "" : " (\(failures) failed)"), \(rows) row\(rows == 1 ? "" : "s") in "
            + "\(duration.formattedMilliseconds) ms, at most \(longest.formattedMilliseconds) ms"
    }

    mutating func add(_ report: RequestReport, _ request: RecordedRequest?) {
        count += 1
        rows += report.rows
        duration += report.duration
        longest = max(longest, report.duration)
        if report.failure != nil { failures += 1 }
        // The time of a request that failed says nothing, unless it took too long.
        guard report.failure == nil || report.failure == .timeout else { return }
        guard let request, slowest == nil || report.duration >= longestKept else { return }
        longestKept = report.duration
        slowest = request
    }
}
