#if SQLite
internal import CSQLite
internal import PolystoreSQL
internal import PolystoreStorage

/// A fetch of the rows of a range of an indexed attribute by its index, where the engine would scan the whole table.
///
/// The rows are requested in key order, which is the order of the table. The engine does not know the number of rows in a range and
/// therefore prefers a scan. This type counts the entries of the index, up to the number for which lookups are faster than a scan.
struct SQLiteRange {
    /// The size of a table up to which a scan is always fast enough.
    private static let fewRows: Int64 = 2048
    /// The cost of looking up a row, in rows that are read by a scan.
    private static let lookUpCost: Int64 = 64

    private let plan: FetchPlan
    private let reader: SQLiteReader
    /// The conditions on the indexed attribute.
    private let conditions: [CheckedPredicate]

    /// Creates the range, or nil for a plan with a sort order or without a range of an indexed attribute.
    init?(_ plan: FetchPlan, _ reader: SQLiteReader) {
        guard plan.sort.isEmpty, plan.predicate != .constant(true) else { return nil }
        let all = if case .and(let parts) = plan.predicate { parts } else { [plan.predicate] }
        let schema = reader.core.tables.schema
        func indexed(_ path: CheckedPath) -> Int? {
            guard path.steps.isEmpty, case .slot(let slot) = path.leaf else { return nil }
            return schema[plan.entity].beginsIndex(slot) ? slot : nil
        }
        var ranges: [Int: [CheckedPredicate]] = [:]
        for part in all {
            switch part {
            // The index lists the rows of a single value in key order too.
            case .compare(.path(let path), .equal, .value): if indexed(path) != nil { return nil }
            case .compare(.path(let path), .less, .value), .compare(.path(let path), .lessOrEqual, .value),
                .compare(.path(let path), .greater, .value), .compare(.path(let path), .greaterOrEqual, .value),
                .text(.path(let path), .beginsWith, _):
                if let slot = indexed(path) { ranges[slot, default: []].append(part) }
            case .constant, .isNil, .compare, .isIn, .text, .related, .isEntity, .and, .or, .not: continue
            }
        }
        // The attribute with the most conditions, usually at most two.
        guard let best = ranges.max(by: { ($0.value.count, $1.key) < ($1.value.count, $0.key) }) else { return nil }
        self.plan = plan
        self.reader = reader
        conditions = best.value
    }

    /// Returns the rows in key order, or nil where there are too many or the engine does not use an index.
    func rows() throws(StorageError) -> HeldRows? {
        guard try isShorter() else { return nil }
        let select = reader.core.statements.statement(plan, isOrdered: false)
        let source = SQLiteCursor(try reader.connection.statement(select.sql, select.bindings), select.layout, reader)
        return try SQLiteSort.sorted(source, plan, reader.core.tables.schema)
    }

    /// Returns whether looking up the rows of the range is faster than a scan.
    func isShorter() throws(StorageError) -> Bool {
        guard let most = try mostRows() else { return false }
        return try isFew(most)
    }

    /// Returns the maximum number of rows for which lookups are faster than a scan, or nil for a small table.
    private func mostRows() throws(StorageError) -> Int64? {
        let table = SQLText.quoted(reader.core.tables.table(plan.entity))
        guard let rows = try reader.connection.integer("SELECT max(\"_id\") FROM \(table)"), rows > Self.fewRows else { return nil }
        let most = rows / Self.lookUpCost
        // With a limit, a scan finds the first rows early if the range has many.
        guard let limit = plan.limit else { return most }
        let wanted = Double(limit) + Double(plan.offset)
        return min(most, max(Self.lookUpCost, Int64((wanted * Double(rows)).squareRoot())))
    }

    private func isFew(_ most: Int64) throws(StorageError) -> Bool {
        let predicate: CheckedPredicate = conditions.count == 1 ? conditions[0] : .and(conditions)
        let schema = reader.core.tables.schema, hierarchy = schema[schema[plan.entity].root].family
        let range = FetchPlan(entity: plan.entity, entities: hierarchy, predicate: predicate)
        let statement = try reader.connection.statement(reader.core.compiler.count(range, upTo: most + 1))
        defer { statement.reset() }
        guard try reader.uses(anIndex: statement), try statement.step() else { return false }
        return sqlite3_column_int64(statement.handle, 0) <= most
    }
}

extension EntityDescription {
    /// Whether an index or a unique constraint begins with a slot.
    fileprivate func beginsIndex(_ slot: Int) -> Bool {
        indexes.contains { $0.first == slot } || uniqueConstraints.contains { $0.slots.first == slot }
    }
}

extension SQLiteReader {
    /// Returns whether the engine finds the rows of a statement by an index. It is determined once for each prepared statement.
    fileprivate func uses(anIndex statement: SQLiteStatement) throws(StorageError) -> Bool {
        if let known = statement.usesIndex { return known }
        let usesIndex = try engineLines(statement.sql).contains { $0.hasPrefix("SEARCH") && $0.contains("INDEX") }
        statement.usesIndex = usesIndex
        return usesIndex
    }
}
#endif
