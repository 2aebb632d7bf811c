public import Polystore
internal import Tracing

/// A combination of several instrumentations.
public struct CombinedInstrumentation: StoreInstrumentation {
    private let parts: [any StoreInstrumentation]

    /// Creates a combination.
    public init(_ parts: any StoreInstrumentation...) { self.parts = parts }

    /// Calls all parts.
    public func willBegin(_ kind: TransactionReport.Kind, author: String) -> (any Sendable)? {
        parts.map { $0.willBegin(kind, author: author) }
    }

    /// Calls all parts.
    public func didEnd(_ report: TransactionReport, _ token: (any Sendable)?) {
        let tokens = token as? [(any Sendable)?] ?? []
        for (index, part) in parts.enumerated() { part.didEnd(report, tokens.indices.contains(index) ? tokens[index] : nil) }
    }

    /// Calls all parts.
    public func didAnswer(_ report: RequestReport) { for part in parts { part.didAnswer(report) } }
}
