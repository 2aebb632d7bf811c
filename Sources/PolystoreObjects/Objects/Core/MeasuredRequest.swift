internal import PolystoreStorage
internal import Synchronization

extension ObjectContext {
    /// Runs a request, and reports it if requests are measured. A request that is a part of another one is not reported.
    @inline(__always)
    func measured<R>(
        _ kind: RequestReport.Kind, _ shape: @autoclosure () -> RequestShape, rows: (R) -> Int,
        _ body: () throws(StorageError) -> R
    ) throws(StorageError) -> R {
        guard let request = MeasuredRequest(self, kind, shape()) else { return try body() }
        do throws(StorageError) {
            let result = try request.timed(body)
            request.end(rows(result), nil)
            return result
        } catch {
            request.end(0, error)
            throw error
        }
    }
}

/// A request that is being measured.
final class MeasuredRequest {
    private let context: ObjectContext
    private let kind: RequestReport.Kind
    private let shape: RequestShape
    private var duration = Duration.zero
    private var hasEnded = false

    /// Begins a measurement; nil if nothing measures requests, or the request is a part of another one.
    @inline(__always)
    convenience init?(_ context: ObjectContext, _ kind: RequestReport.Kind, _ shape: @autoclosure () -> RequestShape) {
        guard context.stack.measuresRequests.load(ordering: .relaxed), !context.isMeasured else { return nil }
        self.init(of: context, kind, shape())
    }

    private init(of context: ObjectContext, _ kind: RequestReport.Kind, _ shape: RequestShape) {
        self.context = context
        self.kind = kind
        self.shape = shape
    }

    /// Runs a part of the request.
    func timed<R>(_ body: () throws(StorageError) -> R) throws(StorageError) -> R {
        let start = ContinuousClock.now
        context.isMeasured = true
        defer {
            context.isMeasured = false
            duration += start.duration(to: .now)
        }
        return try body()
    }

    /// Runs a part of a request that may be measured.
    static func timed<R>(_ request: MeasuredRequest?, _ body: () throws(StorageError) -> R) throws(StorageError) -> R {
        if let request { try request.timed(body) } else { try body() }
    }

    /// Reports the request. A second call does nothing.
    func end(_ rows: Int, _ error: StorageError?) {
        if hasEnded { return }
        hasEnded = true
        context.stack.report(
            RequestReport(
                kind: kind, entity: shape.entity, shape: shape.text, duration: duration, rows: rows, failure: error?.code),
            shape.request)
    }
}
