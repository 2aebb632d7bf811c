internal import PolystoreStorage

/// The rows that a scan plan leads to and the condition lets through. Cells point into the engine's memory.
final class KeyValueScan: RowCursor {
    private let reader: KeyValueReader
    private let core: KeyValueCore
    private let map: Int
    private let entities: [Bool]
    private let evaluator: PredicateEvaluator?
    private let related: RelatedRecords
    private let scan: ScanPlan
    private var toSkip: Int
    private var left: Int
    private var cursor: (any OrderedCursor)?
    private var keys: ArraySlice<Int64> = []
    private var isStarted = false

    init(_ reader: KeyValueReader, _ plan: FetchPlan, _ scan: ScanPlan) {
        self.reader = reader
        self.scan = scan
        core = reader.core
        map = core.layout.rows[plan.entity]
        var entities = [Bool](repeating: false, count: core.schema.entities.count)
        for entity in plan.entities { entities[entity] = true }
        self.entities = entities
        evaluator = plan.predicate == .constant(true) ? nil : PredicateEvaluator(plan.predicate, schema: core.schema)
        related = RelatedRecords(reader)
        // Every scan gives rows in the order of their keys; answers in another order are cut after sorting.
        let isCut = plan.sort.isEmpty
        toSkip = isCut ? plan.offset : 0
        left = isCut ? plan.limit ?? .max : .max
    }

    func next(into batch: RowBatch) throws(StorageError) -> Bool {
        try reader.checkOpen()
        batch.clear()
        if !isStarted { try start() }
        switch scan.access {
        case .all, .keyRange: try scanRows(batch)
        case .keys, .index: try lookUp(batch)
        }
        return batch.count > 0
    }

    private func start() throws(StorageError) {
        isStarted = true
        switch scan.access {
        case .all: cursor = try reader.engine.cursor(map)
        case .keyRange(let low, _):
            let cursor = try reader.engine.cursor(map)
            pending = try RowKey(low).withBytes { bytes throws(StorageError) in try cursor.seek(bytes) }
            self.cursor = cursor
        case .keys(let keys): self.keys = Set(keys).sorted()[...]
        case .index(let index, let ranges): keys = try indexKeys(index, ranges)[...]
        }
    }

    /// Whether the cursor stands on a pair that was not yet looked at; nil after the first.
    private var pending: Bool?

    private func scanRows(_ batch: RowBatch) throws(StorageError) {
        guard let cursor else { return }
        var high = Int64.max
        if case .keyRange(_, let last) = scan.access { high = last }
        while left > 0, !batch.isFull {
            let isThere: Bool
            if let pending {
                isThere = pending
                self.pending = nil
            } else {
                isThere = try cursor.next()
            }
            let key = isThere ? KeyBytes.key(cursor.key) : 0
            guard isThere, key <= high else {
                self.cursor = nil
                return
            }
            try take(key, cursor.value, batch)
        }
    }

    private func lookUp(_ batch: RowBatch) throws(StorageError) {
        while left > 0, !batch.isFull, let key = keys.popFirst() {
            if let record = try reader.get(map, key) { try take(key, record, batch) }
        }
    }

    /// Adds a row if the condition lets it through.
    @inline(__always)
    private func take(_ key: Int64, _ record: UnsafeRawBufferPointer, _ batch: RowBatch) throws(StorageError) {
        guard let entity = core.layout.entity(record) else { throw core.damaged(map, key) }
        guard entities[entity] else { return }
        try core.decode(key, record, map, into: batch)
        if let evaluator {
            let isWanted = evaluator.matches(batch.row(batch.count - 1), related)
            try related.throwFailure()
            try evaluator.throwStorageFailure()
            if !isWanted { return batch.removeLastRow() }
        }
        if toSkip > 0 {
            toSkip -= 1
            return batch.removeLastRow()
        }
        left -= 1
    }

    /// The keys of the rows that ranges of an index lead to, ascending.
    private func indexKeys(_ index: Int, _ ranges: [ScanPlan.Range]) throws(StorageError) -> [Int64] {
        var found: [Int64] = []
        let cursor = try reader.engine.cursor(index)
        for range in ranges {
            var isThere = try range.from.withBytes { bytes throws(StorageError) in try cursor.seek(bytes) }
            while isThere {
                let key = cursor.key
                if let prefix = range.prefix, !key.starts(with: prefix.bytes) { break }
                if let end = range.end, end.bytes.withUnsafeBytes({ compareBytes(key, $0) }) >= 0 { break }
                found.append(KeyBytes.lastKey(key))
                isThere = try cursor.next()
            }
        }
        found.sort()
        // Ranges can overlap where long values were cut.
        var last: Int64?
        found.removeAll { key in
            defer { last = key }
            return key == last
        }
        return found
    }
}

/// The rows of a scan, sorted and cut.
final class SortedRows: RowCursor {
    private let rows: RowBatch
    private let order: [Int]
    private let schema: Schema
    private var position = 0

    init(_ source: KeyValueScan, _ plan: FetchPlan, _ core: KeyValueCore, _ related: RelatedRecords) throws(StorageError) {
        schema = core.schema
        let kept = RowBatch(capacity: 4096), batch = RowBatch()
        while try source.next(into: batch) {
            for index in 0..<batch.count {
                let row = batch.row(index)
                kept.append(copying: row, slots: core.schema[row.entity].slots.count)
            }
        }
        let order = RowOrder(plan.sort, schema: core.schema)
        let sorted = (0..<kept.count).sorted { order.compare(kept.row($0), kept.row($1), related) < 0 }
        try related.throwFailure()
        do throws(QueryError) { try order.throwFailure() } catch { throw StorageError(error) }
        rows = kept
        self.order = Array(sorted.dropFirst(plan.offset).prefix(plan.limit ?? .max))
    }

    func next(into batch: RowBatch) throws(StorageError) -> Bool {
        batch.clear()
        while position < order.count, !batch.isFull {
            let row = rows.row(order[position])
            let count = schema[row.entity].slots.count
            let cells = batch.appendRow(key: row.key, version: row.version, entity: row.entity, slots: count)
            cells.update(from: row.cells, count: count)
            position += 1
        }
        return batch.count > 0
    }
}
