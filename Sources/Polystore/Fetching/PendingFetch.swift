internal import PolystoreStorage

/// A fetch in a context whose changes are only in memory: what the store answers, corrected by them.
///
/// The store gives all rows of the plan. Objects that were changed here are judged by their present values instead, new ones are added,
/// deleted ones left out; then the whole is sorted and cut.
struct PendingFetch {
    private let plan: FetchPlan
    private let store: Int
    private let context: ObjectContext
    private let evaluator: PredicateEvaluator

    init(_ plan: FetchPlan, _ store: Int, _ context: ObjectContext) {
        self.plan = plan.bound(to: context.stack.storeID(store), in: context.model.schema)
        self.store = store
        self.context = context
        evaluator = PredicateEvaluator(self.plan.predicate, schema: context.model.schema)
    }

    /// The objects in the order of the plan, cut as it says.
    func run(_ reader: ReadSession) throws(StorageError) -> [ManagedObject] {
        Self.cut(try found(reader), plan).map(\.object)
    }

    /// The objects of a plan from several stores, in its order.
    static func merge(_ plan: FetchPlan, _ stores: [Int], _ context: ObjectContext) throws(StorageError) -> [ManagedObject] {
        cut(try items(plan, stores, context), plan).map(\.object)
    }

    /// The same with the values of the sort keys, and a digest of all values that is the same for the same values.
    static func rows(
        _ plan: FetchPlan, _ stores: [Int], _ context: ObjectContext
    ) throws(StorageError) -> [(object: ManagedObject, keys: [Value], digest: Int64)] {
        cut(try items(plan, stores, context), plan).map { item in
            var hasher = Hasher()
            for (name, value) in item.object.currentValues().sorted(by: { $0.key < $1.key }) {
                hasher.combine(name)
                hasher.combine(value)
            }
            return (item.object, item.keys, Int64(hasher.finalize()))
        }
    }

    private static func items(_ plan: FetchPlan, _ stores: [Int], _ context: ObjectContext) throws(StorageError) -> [Item] {
        var items: [Item] = []
        for store in stores {
            items += try context.withReader(store) { reader throws(StorageError) in
                try PendingFetch(plan, store, context).found(reader)
            }
        }
        return items
    }

    /// An object with the values of the sort keys.
    private struct Item {
        let object: ManagedObject
        let keys: [Value]
    }

    private static func cut(_ items: [Item], _ plan: FetchPlan) -> ArraySlice<Item> {
        let sorted = items.sorted { a, b in
            let order = RowOrder.compare(a.keys, b.keys, plan.sort)
            return order == 0 ? (a.object._key, a.object._store) < (b.object._key, b.object._store) : order < 0
        }
        return sorted.dropFirst(plan.offset).prefix(plan.limit ?? .max)
    }

    private func found(_ reader: ReadSession) throws(StorageError) -> [Item] {
        let order = RowOrder(plan.sort, schema: context.model.schema)
        let related = PendingRows(context, store, reader), rows = RowBatch(capacity: 256)
        var part = plan
        part.limit = nil
        part.offset = 0
        part.sort = []
        part.fields = .all
        var found: [Item] = [], seen: Set<ObjectIdentifier> = []
        let candidates = (try context.storedObjects(for: part, store: store, reader) + pending).filter {
            !$0.isDeletedObject && seen.insert(ObjectIdentifier($0)).inserted
        }
        for start in stride(from: 0, to: candidates.count, by: 256) {
            let block = candidates[start..<min(start + 256, candidates.count)]
            rows.clear()
            for object in block { object.encode(into: rows) }
            related.begin(rows)
            // A condition over relationships can change its answer without a change of the object itself.
            for (index, object) in block.enumerated() where evaluator.matches(rows.row(index), related) {
                found.append(Item(object: object, keys: order.values(rows.row(index), related)))
            }
            try related.throwFailure()
            try evaluator.throwStorageFailure()
            do throws(QueryError) { try order.throwFailure() } catch { throw StorageError(error) }
        }
        return found
    }

    private var pending: [ManagedObject] {
        guard let tracker = context.tracker else { return [] }
        let entities = Set(plan.entities)
        return [tracker.inserted, tracker.changed].joined().filter { Int($0._store) == store && entities.contains(Int($0._entity)) }
    }
}

/// The rows that relationships lead to, as the context has them.
private final class PendingRows: RelatedRows {
    private let context: ObjectContext
    private let store: Int
    private let stored: StoredRows
    /// With their objects: another one could come to lie where one that was let go of had lain.
    private var rows: [ObjectIdentifier: (object: ManagedObject, row: RowBatch)] = [:]
    private var failure: StorageError?

    init(_ context: ObjectContext, _ store: Int, _ reader: ReadSession) {
        self.context = context
        self.store = store
        stored = StoredRows(reader)
    }

    /// Names the rows that are looked at next: what they lead to is read together.
    func begin(_ batch: RowBatch) { stored.begin(batch) }

    func row(_ entity: EntityIndex, _ key: Int64) -> RowView? {
        guard let object = context.identityMap(entity, store).find(key) else { return stored.row(entity, key) }
        return object.isDeletedObject ? nil : encoded(object).row(0)
    }

    func members(_ entity: EntityIndex, _ relationship: Int, of key: Int64, _ body: (borrowing RowView) -> Bool) {
        let destination = context.model.schema[entity].relationships[relationship].destination
        do throws(StorageError) {
            guard let object = try context.object(entity, key, store) else { return }
            for member in try context.state(object, relationship).keys {
                guard let found = row(destination, member) else { continue }
                if !body(found) { return }
            }
        } catch {
            failure = failure ?? error
        }
    }

    /// The present values of an object as a row.
    func encoded(_ object: ManagedObject) -> RowBatch {
        if let known = rows[ObjectIdentifier(object)] { return known.row }
        let batch = object.encodedRow()
        rows[ObjectIdentifier(object)] = (object, batch)
        return batch
    }

    func throwFailure() throws(StorageError) {
        if let failure { throw failure }
        try stored.throwFailure()
    }
}
