internal import PolystoreStorage

/// A session that answers no condition and no order by itself, so that everything is done above it.
final class NoPushdown: ForwardingReader {
    let reader: any StorageReader

    init(_ reader: any StorageReader) { self.reader = reader }

    func pushdown(of plan: FetchPlan) -> Pushdown { plan.predicate == .constant(true) ? .exact : .unsupported }
}
