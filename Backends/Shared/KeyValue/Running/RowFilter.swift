internal import PolystoreStorage

/// A filter for the rows that a plan requests.
final class RowFilter {
    let reader: KeyValueReader
    let map: Int
    let related: RelatedRecords
    private let core: KeyValueCore
    private let evaluator: PredicateEvaluator?
    // Unmanaged memory: an array would be retained for each row.
    private let entities: UnsafeMutableBufferPointer<Bool>
    private let slots: UnsafeMutableBufferPointer<Int>?

    /// Creates a filter for a plan.
    ///
    /// - Parameter slots: The slots that the plan's condition and the reader of the rows use, nil for all.
    init(_ reader: KeyValueReader, _ plan: FetchPlan, only slots: Set<Int>? = nil) {
        self.reader = reader
        core = reader.core
        map = core.layout.rows[plan.entity]
        entities = .allocate(capacity: core.schema.entities.count)
        entities.initialize(repeating: false)
        for entity in plan.entities { entities[entity] = true }
        self.slots = slots.map { slots in
            let list = UnsafeMutableBufferPointer<Int>.allocate(capacity: slots.count)
            _ = list.initialize(from: slots.sorted())
            return list
        }
        evaluator = plan.predicate == .constant(true) ? nil : PredicateEvaluator(plan.predicate, schema: core.schema)
        related = RelatedRecords(reader)
    }

    deinit {
        entities.deallocate()
        slots?.deallocate()
    }

    /// Adds a row to a batch if the plan requests it.
    @inline(__always)
    func take(_ key: Int64, _ record: UnsafeRawBufferPointer, _ batch: RowBatch) throws(StorageError) -> Bool {
        try reader.work.step()
        guard let entity = core.shapes.entity(record) else { throw core.damaged(map, key) }
        guard entities[entity] else { return false }
        try core.decode(key, record, map, only: slots.map { UnsafeBufferPointer($0) }, into: batch)
        guard let evaluator else { return true }
        related.beginRow()
        let isWanted = evaluator.matches(batch.row(batch.count - 1), related)
        try related.throwFailure()
        try evaluator.throwStorageFailure()
        if !isWanted { batch.removeLastRow() }
        return isWanted
    }

    /// Looks up a row and adds it to a batch if the plan requests it.
    func take(_ key: Int64, _ batch: RowBatch) throws(StorageError) -> Bool {
        guard let record = try reader.get(map, key) else { return false }
        return try take(key, record, batch)
    }
}
