internal import PolystoreStorage

/// A session that answers no condition and no order by itself, so that everything is done above it.
final class NoPushdown: ForwardingReader {
    let reader: any StorageReader
    /// How often rows were asked for by their keys.
    private(set) var lookUps = 0

    init(_ reader: any StorageReader) { self.reader = reader }

    func pushdown(of plan: FetchPlan) -> Pushdown { plan.predicate == .constant(true) ? .exact : .unsupported }

    func rows(_ entity: EntityIndex, keys: [Int64], into batch: RowBatch) throws(StorageError) {
        lookUps += 1
        try reader.rows(entity, keys: keys, into: batch)
    }
}
