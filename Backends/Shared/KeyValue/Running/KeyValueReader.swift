internal import PolystoreFoundation
internal import PolystoreStorage

/// A read session, and the reading part of a write session.
class KeyValueReader: ValueQueryReader, SingleRowReader, PlanExplainer, HistoryReader, KeyCountingReader {
    let core: KeyValueCore
    let engine: any OrderedReader
    /// Counts the rows and entries that the session reads.
    let work: WorkMeter
    private let limit: WorkLimit?
    private(set) var isOpen = true

    init(_ core: KeyValueCore, _ engine: any OrderedReader, _ limit: WorkLimit? = nil) {
        self.core = core
        self.engine = engine
        self.limit = limit
        work = WorkMeter(limit)
    }

    deinit { end() }

    func checkOpen() throws(StorageError) {
        try checkState()
        try work.check()
    }

    @inline(__always)
    private final func checkState() throws(StorageError) {
        if !isOpen || core.isClosed { throw StorageError(.storeClosed, "the session or its store was closed") }
    }

    final func end() {
        guard isOpen else { return }
        isOpen = false
        endEngine()
        didEnd()
    }

    /// Ends the engine's session.
    func endEngine() { engine.end() }

    /// Is called once, when the session has ended.
    func didEnd() {}

    /// Returns `.exact` for every plan, because the evaluator runs in the store.
    func pushdown(of plan: FetchPlan) -> Pushdown { .exact }

    func cursor(for plan: FetchPlan) throws(StorageError) -> any RowCursor {
        try checkOpen()
        let scan = try ScanPlan(plan, self)
        if case .ordered(let order) = scan.access { return try cursor(for: plan, order) }
        return try cursor(for: plan, scan.access)
    }

    private func cursor(for plan: FetchPlan, _ access: ScanPlan.Access) throws(StorageError) -> any RowCursor {
        let source = KeyValueScan(self, plan, access)
        return plan.sort.isEmpty ? source : try sorted(source, plan)
    }

    /// Returns the rows of a source in the sort order of a plan, cut to its offset and limit.
    final func sorted(_ source: KeyValueScan, _ plan: FetchPlan) throws(StorageError) -> HeldRows {
        var sorter = RowSorter(plan, schema: core.schema)
        let related = RelatedRecords(self), batch = RowBatch()
        while try source.next(into: batch) {
            for index in 0..<batch.count {
                related.beginRow()
                try sorter.add(batch.row(index), related)
            }
        }
        try related.throwFailure()
        return sorter.sorted()
    }

    /// Returns the rows in the order of an index. If the index does not answer the condition and few rows satisfy it, another plan is
    /// better; the rows found so far are then discarded.
    private func cursor(for plan: FetchPlan, _ order: IndexOrder) throws(StorageError) -> any RowCursor {
        if order.use.isExact { return try OrderedRows(self, plan, order) }
        let rows = try OrderedRows(self, plan, order, budget: try ScanPlan.budget(plan, self) / KeySearch.lookUpCost)
        let kept = RowBatch(capacity: 1024), batch = RowBatch()
        while try rows.next(into: batch) {
            for index in 0..<batch.count {
                let row = batch.row(index)
                kept.append(copying: row, slots: core.schema[row.entity].slots.count)
            }
        }
        return rows.isExhausted ? try cursor(for: plan, try ScanPlan(unordered: plan, self).access) : HeldRows(kept, schema: core.schema)
    }

    func explanation(of plan: FetchPlan) throws(StorageError) -> [String] {
        try checkOpen()
        return try ScanPlan(plan, self).explanation(plan, core.layout)
    }

    func measuredExplanation(of plan: FetchPlan) throws(StorageError) -> [String] {
        let lines = try explanation(of: plan), counted = CountedReader(engine)
        let cursor = try KeyValueReader(core, counted, limit).cursor(for: plan), batch = RowBatch()
        var rows = 0
        while try cursor.next(into: batch) { rows += batch.count }
        return lines + ["\(rows) rows found, \(counted.lookUps) pairs looked up, \(counted.steps) read in order, \(counted.seeks) seeks"]
    }

    func rows(_ entity: EntityIndex, keys: [Int64], into batch: RowBatch) throws(StorageError) {
        try checkOpen()
        let map = core.layout.rows[entity]
        for key in keys {
            try work.step()
            guard let record = try get(map, key) else { continue }
            // The record is copied because the engine's bytes become invalid when the session ends; the batch's bytes do not.
            let copy = UnsafeRawBufferPointer(start: batch.copy(record), count: record.count)
            try core.decode(key, copy, map, into: batch)
        }
    }

    func row(_ entity: EntityIndex, key: Int64, into batch: RowBatch) throws(StorageError) {
        try checkState()
        // Checks the limit only every so many rows: a check takes as long as finding a row.
        try work.step()
        let map = core.layout.rows[entity]
        if let record = try get(map, key) { try core.decode(key, record, map, into: batch) }
    }

    /// Returns the record of a row.
    final func get(_ map: Int, _ key: Int64) throws(StorageError) -> UnsafeRawBufferPointer? {
        try RowKey(key).withBytes { bytes throws(StorageError) in try engine.get(map, bytes) }
    }

    func note(_ name: String) throws(StorageError) -> Data? {
        try checkOpen()
        return try KeyValueStore.withBytes(name) { key throws(StorageError) in try engine.get(KeyValueLayout.notes, key).map { Data($0) } }
    }

    func values(for plan: QueryPlan) throws(StorageError) -> [[Value]]? {
        try checkOpen()
        if let count = try plainCount(plan) { return [[.int(Int64(count))]] }
        if let answer = try IndexEdges(plan, self)?.answer() { return answer }
        let answer = QueryAnswer(plan, schema: core.schema)
        let related = RelatedRecords(self)
        let cursor = try rows(for: plan)
        let batch = RowBatch()
        while try cursor.next(into: batch) {
            do throws(QueryError) { try answer.add(batch, related) } catch { throw StorageError(error) }
            try related.throwFailure()
        }
        do throws(QueryError) { return try answer.result() } catch { throw StorageError(error) }
    }

    /// Returns the rows that a query is computed from, with the slots that it reads.
    private func rows(for plan: QueryPlan) throws(StorageError) -> any RowCursor {
        if let covered = try CoveredRows(plan, self) { return covered }
        // Groups have no row order, and only the query reads the rows.
        guard let slots = plan.localSlots else { return try cursor(for: plan.fetch) }
        return KeyValueScan(self, plan.fetch, try ScanPlan(plan.fetch, self).access, only: slots)
    }

    /// Returns the number of all objects of a hierarchy, which the engine knows; nil for other queries.
    private func plainCount(_ plan: QueryPlan) throws(StorageError) -> Int? {
        let isWhole = plan.fetch.entities == core.schema[core.schema[plan.fetch.entity].root].family
        guard isWhole, plan.fetch.predicate == .constant(true), plan.isCount else { return nil }
        return try engine.count(core.layout.rows[plan.fetch.entity])
    }

    func links(
        _ link: Int, side: LinkSide, keys: [Int64]?, _ body: (UnsafeBufferPointer<LinkPair>) throws(StorageError) -> Void
    ) throws(StorageError) {
        try checkOpen()
        let map = side == .owner ? core.layout.links[link].owner : core.layout.links[link].member
        let cursor = try engine.cursor(map)
        var pairs: [LinkPair] = []
        if let keys {
            for key in Set(keys).sorted() {
                var isThere = try RowKey(key).withBytes { bytes throws(StorageError) in try cursor.seek(bytes) }
                while isThere, KeyBytes.key(cursor.key) == key {
                    try work.step()
                    pairs.append(Self.pair(cursor, side))
                    isThere = try cursor.next()
                }
            }
        } else {
            while try cursor.next() {
                try work.step()
                let pair = Self.pair(cursor, side)
                // The map stores the pairs of an object next to each other.
                if pairs.count >= Self.linksAtOnce, let last = pairs.last, last.key(at: side) != pair.key(at: side) {
                    try Self.give(&pairs, side, body)
                }
                pairs.append(pair)
            }
        }
        try Self.give(&pairs, side, body)
    }

    private static let linksAtOnce = 16_384

    /// Calls `body` with the pairs in their order, and removes them.
    private static func give(
        _ pairs: inout [LinkPair], _ side: LinkSide, _ body: (UnsafeBufferPointer<LinkPair>) throws(StorageError) -> Void
    ) throws(StorageError) {
        if pairs.isEmpty { return }
        pairs.sort { a, b in
            side == .owner
                ? (a.owner, a.rank, a.member) < (b.owner, b.rank, b.member) : (a.member, a.rank, a.owner) < (b.member, b.rank, b.owner)
        }
        let failure = pairs.withUnsafeBufferPointer { buffer -> StorageError? in
            do throws(StorageError) { try body(buffer) } catch { return error }
            return nil
        }
        if let failure { throw failure }
        pairs.removeAll(keepingCapacity: true)
    }

    private static func pair(_ cursor: any OrderedCursor, _ side: LinkSide) -> LinkPair {
        let first = KeyBytes.key(cursor.key), second = KeyBytes.lastKey(cursor.key), rank = KeyBytes.key(cursor.value)
        return side == .owner ? LinkPair(owner: first, rank: rank, member: second) : LinkPair(owner: second, rank: rank, member: first)
    }

    func nextKey(_ root: EntityIndex) throws(StorageError) -> Int64? {
        try checkOpen()
        return try counter(core.schema.entities[root].name)
    }

    /// Returns the next number of a counter, which begins at 1.
    final func counter(_ name: String) throws(StorageError) -> Int64 {
        try KeyValueStore.withBytes(name) { key throws(StorageError) in
            try engine.get(KeyValueLayout.counters, key).map(KeyBytes.key) ?? 1
        }
    }
}

extension LinkPair {
    fileprivate func key(at side: LinkSide) -> Int64 { side == .owner ? owner : member }
}
