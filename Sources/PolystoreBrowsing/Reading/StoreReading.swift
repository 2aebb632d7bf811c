internal import PolystoreStorage

/// Reads what pages show from one snapshot of a store.
struct StoreReading {
    let session: ReadSession
    var schema: Schema { session.schema }

    /// The numbers of bytes of a text that a table, a label and the page of an object show.
    static let longestInTable = 160, longestLabel = 80, longestOnPage = 4000

    init(_ session: ReadSession) { self.session = session }

    /// Returns the number of objects of a plan.
    func count(_ plan: FetchPlan) throws(StorageError) -> Int {
        guard case .int(let count)? = try session.values(for: .count(plan)).first?.first else { return 0 }
        return Int(count)
    }

    /// Returns the objects of a plan, which has a limit.
    func records(_ plan: FetchPlan, longest: Int = longestInTable) throws(StorageError) -> [ObjectRecord] {
        let cursor = try session.cursor(for: plan), batch = RowBatch(capacity: min(plan.limit ?? 256, 256))
        var records: [ObjectRecord] = []
        while try cursor.next(into: batch) { append(batch, to: &records, longest) }
        return records
    }

    /// Returns the objects of an entity with the greatest keys below one, in descending order. Nil if the search has no beginning, because
    /// the key is nil and the store does not count keys.
    ///
    /// Stores with ordered keys read them upwards. So ranges of keys are searched, the nearest one first, each larger than the one before.
    func last(_ entity: EntityIndex, before key: Int64?, limit: Int, longest: Int = longestInTable) throws(StorageError) -> [ObjectRecord]?
    {
        var greatest = key
        if key == nil { greatest = try session.nextKey(schema[entity].root) }
        guard var end = greatest else { return nil }
        guard let first = try records(plan(entity, nil, limit: 1), longest: 0).first?.key else { return [] }
        var found: [ObjectRecord] = [], span: Int64 = 512
        while found.count < limit, end > first {
            let (difference, isTooSmall) = end.subtractingReportingOverflow(span), start = isTooSmall ? first : max(difference, first)
            let range =
                QueryPredicate.compare(.path(.object), .greaterOrEqual, .value(.int(start)))
                && .compare(.path(.object), .less, .value(.int(end)))
            found += try self.end(of: plan(entity, range), limit - found.count, longest).reversed()
            end = start
            span = span.multipliedReportingOverflow(by: 8).overflow ? .max : span * 8
        }
        return found
    }

    /// Returns the last objects of a plan, in its order.
    private func end(of plan: FetchPlan, _ count: Int, _ longest: Int) throws(StorageError) -> [ObjectRecord] {
        let cursor = try session.cursor(for: plan), batch = RowBatch()
        var records: [ObjectRecord] = []
        while try cursor.next(into: batch) {
            append(batch, to: &records, longest)
            if records.count > count { records.removeFirst(records.count - count) }
        }
        return records
    }

    /// Returns the checked plan of a request for objects of an entity.
    func plan(
        _ entity: EntityIndex, _ condition: QueryPredicate?, orderBy terms: [OrderTerm] = [], limit: Int? = nil
    ) throws(StorageError) -> FetchPlan {
        do throws(QueryError) {
            return try ObjectRequest(schema.entities[entity].name, where: condition, orderBy: terms, limit: limit).plan(in: schema)
        } catch {
            throw StorageError(error)
        }
    }

    /// Returns the objects of an entity's hierarchy with the given keys. Those that do not exist are left out.
    func records(_ entity: EntityIndex, keys: [Int64], longest: Int = longestLabel) throws(StorageError) -> [Int64: ObjectRecord] {
        if keys.isEmpty { return [:] }
        let batch = RowBatch(capacity: keys.count)
        try session.rows(entity, keys: Array(Set(keys)).sorted(), into: batch)
        var records: [ObjectRecord] = []
        append(batch, to: &records, longest)
        return Dictionary(records.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns an object.
    ///
    /// - Throws: `notFound` if the entity has no object with the key.
    func record(_ entity: EntityIndex, _ key: Int64, longest: Int = longestOnPage) throws(StorageError) -> ObjectRecord {
        if let record = try records(entity, keys: [key], longest: longest)[key], schema[entity].family.contains(record.entity) {
            return record
        }
        throw StorageError(.notFound, "there is no object \(schema[entity].name) \(key); it may have been deleted")
    }

    /// Returns the value of a slot of an object as a whole; nil for bytes that are no value of its type.
    func value(_ entity: EntityIndex, _ key: Int64, _ slot: Int) throws(StorageError) -> Value? {
        let batch = RowBatch(capacity: 1)
        try session.rows(entity, keys: [key], into: batch)
        guard batch.count > 0 else { return .null }
        let row = batch.row(0), slots = schema[row.entity].slots
        return slots.indices.contains(slot) ? Value(row[slot], as: slots[slot].type) : .null
    }

    private func append(_ batch: RowBatch, to records: inout [ObjectRecord], _ longest: Int) {
        for index in 0..<batch.count { records.append(ObjectRecord(batch.row(index), schema, longest: longest)) }
    }

    /// Returns the objects to which references of some objects lead, by the root of their hierarchy and their keys.
    func references(of records: [ObjectRecord]) throws(StorageError) -> [EntityIndex: [Int64: ObjectRecord]] {
        var keys: [EntityIndex: [Int64]] = [:]
        for record in records {
            for (index, slot) in schema[record.entity].slots.enumerated() {
                if let destination = slot.destination, let key = record.reference(index) {
                    keys[schema[destination].root, default: []].append(key)
                }
            }
        }
        var found: [EntityIndex: [Int64: ObjectRecord]] = [:]
        for (root, keys) in keys { found[root] = try self.records(root, keys: keys) }
        return found
    }

    /// Returns the identity of an object as a constant of conditions.
    func constant(_ entity: EntityIndex, _ key: Int64) -> Value {
        ObjectKey(store: session.store.storeID, root: schema.entities[schema[entity].root].name, key: key).constant
    }
}
