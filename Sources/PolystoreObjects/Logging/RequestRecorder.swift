internal import PolystoreStorage
internal import Synchronization

/// The statistics of a stack about its requests, by form.
final class RequestRecorder: Sendable {
    /// The maximum number of forms. A program has few; one that writes values into its expressions or statements has as many as values.
    static let maximumForms = 1_000

    private struct Form: Hashable {
        let kind: RequestReport.Kind
        let shape: String
    }

    private let forms = Mutex<[Form: RequestStatistics]>([:])

    /// Adds a request. If there are too many forms, the one that took the least time is discarded.
    @inline(never) func add(_ report: RequestReport, _ request: ObjectRequest?) {
        let form = Form(kind: report.kind, shape: report.shape)
        forms.withLock { forms in
            forms[form, default: RequestStatistics(report)].add(report, request)
            if forms.count <= Self.maximumForms { return }
            if let least = forms.filter({ $0.key != form }).min(by: { $0.value.duration < $1.value.duration }) { forms[least.key] = nil }
        }
    }

    /// The statistics, by descending total time.
    var statistics: [RequestStatistics] {
        @inline(never) get {
            forms.withLock { Array($0.values) }.sorted { ($1.duration, $0.shape) < ($0.duration, $1.shape) }
        }
    }

    @inline(never) func clear() { forms.withLock { $0.removeAll() } }
}
