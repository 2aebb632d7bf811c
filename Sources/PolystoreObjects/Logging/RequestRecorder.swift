internal import PolystoreStorage
internal import Synchronization

/// The statistics of a stack about its requests, by form.
final class RequestRecorder: Sendable {
    /// The maximum number of forms. A program has few; one that writes values into its expressions or statements has as many as values.
    static let maximumForms = 1_000
    /// The maximum length of a form in bytes.
    private static let longestShape = 10_000

    private struct Form: Hashable {
        let kind: RequestReport.Kind
        let shape: String
    }

    private struct State {
        var forms: [Form: RequestStatistics] = [:]
        var lacksRequests = false
    }

    private let state = Mutex(State())

    /// Adds a request. If there are too many forms, the one that took the least time is discarded.
    @inline(never) func add(_ report: RequestReport, _ request: RecordedRequest?) {
        let isLong = report.shape.utf8.count > Self.longestShape
        let form = Form(kind: report.kind, shape: isLong ? report.shape.excerpt(Self.longestShape) : report.shape)
        let bounded = request?.bounded
        state.withLock { state in
            state.forms[form, default: RequestStatistics(report, shape: form.shape)].add(report, bounded)
            // Requests of other forms may begin alike.
            if request != nil, isLong || bounded == nil { state.lacksRequests = true }
            if state.forms.count <= Self.maximumForms { return }
            var least: (form: Form, duration: Duration)?
            for (other, statistics) in state.forms where other != form && statistics.duration < least?.duration ?? .seconds(Int64.max) {
                least = (other, statistics.duration)
            }
            if let least, state.forms.removeValue(forKey: least.form)?.slowest != nil { state.lacksRequests = true }
        }
    }

    /// The statistics, by descending total time.
    var statistics: [RequestStatistics] {
        @inline(never) get {
            state.withLock { Array($0.forms.values) }.sorted { ($1.duration, $0.shape) < ($0.duration, $1.shape) }
        }
    }

    /// Whether requests for objects or values are missing: those that were too large, and those of forms that were discarded or cut.
    var lacksRequests: Bool {
        @inline(never) get { state.withLock { $0.lacksRequests } }
    }

    @inline(never) func clear() { state.withLock { $0 = State() } }
}
