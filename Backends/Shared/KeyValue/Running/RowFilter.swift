internal import PolystoreStorage

/// Lets the rows through that a plan asks for.
struct RowFilter {
    let reader: KeyValueReader
    let map: Int
    let related: RelatedRecords
    private let core: KeyValueCore
    private let entities: [Bool]
    private let evaluator: PredicateEvaluator?

    init(_ reader: KeyValueReader, _ plan: FetchPlan) {
        self.reader = reader
        core = reader.core
        map = core.layout.rows[plan.entity]
        var entities = [Bool](repeating: false, count: core.schema.entities.count)
        for entity in plan.entities { entities[entity] = true }
        self.entities = entities
        evaluator = plan.predicate == .constant(true) ? nil : PredicateEvaluator(plan.predicate, schema: core.schema)
        related = RelatedRecords(reader)
    }

    /// Adds a row to a batch if the plan asks for it.
    @inline(__always)
    func take(_ key: Int64, _ record: UnsafeRawBufferPointer, _ batch: RowBatch) throws(StorageError) -> Bool {
        guard let entity = core.layout.entity(record) else { throw core.damaged(map, key) }
        guard entities[entity] else { return false }
        try core.decode(key, record, map, into: batch)
        guard let evaluator else { return true }
        let isWanted = evaluator.matches(batch.row(batch.count - 1), related)
        try related.throwFailure()
        try evaluator.throwStorageFailure()
        if !isWanted { batch.removeLastRow() }
        return isWanted
    }

    /// Looks up a row and adds it if the plan asks for it.
    func take(_ key: Int64, _ batch: RowBatch) throws(StorageError) -> Bool {
        guard let record = try reader.get(map, key) else { return false }
        return try take(key, record, batch)
    }
}
