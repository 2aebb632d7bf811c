internal import PolystoreStorage

/// A fetch in a context whose changes are only in memory: the result of the store, corrected by the changes.
///
/// The store evaluates only the conditions whose result for unchanged objects cannot depend on the changes: an object that was not changed
/// here can satisfy a condition because of a related one that was. Objects that were changed here are evaluated with their present values,
/// new ones are added, and deleted ones removed. Then the whole result is sorted and limited.
package struct PendingFetch {
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

    /// Returns the objects in the order of the plan, limited as it specifies.
    func run(_ reader: ReadSession) throws(StorageError) -> [ManagedObject] {
        Self.cut(try found(reader), plan).map(\.object)
    }

    /// Returns the objects of a plan from several stores, in its order.
    static func merge(_ plan: FetchPlan, _ stores: [Int], _ context: ObjectContext) throws(StorageError) -> [ManagedObject] {
        cut(try items(plan, stores, context), plan).map(\.object)
    }

    /// Returns the same objects with the values of the sort keys.
    static func places(
        _ plan: FetchPlan, _ stores: [Int], _ context: ObjectContext
    ) throws(StorageError) -> [(object: ManagedObject, keys: [Value])] {
        cut(try items(plan, stores, context), plan).map { ($0.object, $0.keys) }
    }

    /// Returns the same objects with the values of the sort keys and a digest of all values, which is equal for equal values.
    package static func rows(
        _ plan: FetchPlan, _ stores: [Int], _ context: ObjectContext
    ) throws(StorageError) -> [(object: ManagedObject, keys: [Value], digest: Int64)] {
        try places(plan, stores, context).map { object, keys in
            var hasher = Hasher()
            for (name, value) in object.currentValues().sorted(by: { $0.key < $1.key }) {
                hasher.combine(name)
                hasher.combine(value)
            }
            return (object, keys, Int64(hasher.finalize()))
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
        let order = RowOrder(plan.sort, schema: context.model.schema), related = PendingRows(context, store, reader)
        func throwFailures() throws(StorageError) {
            try related.throwFailure()
            try evaluator.throwStorageFailure()
            do throws(QueryError) { try order.throwFailure() } catch { throw StorageError(error) }
        }
        var found: [Item] = []
        let part = unaffected, isJudged = part.predicate != plan.predicate, batch = RowBatch(capacity: 256)
        let rows = try reader.cursor(for: part)
        let cursor: any RowCursor = order.isPlain && !isJudged ? rows : BlockRows(rows, context.model.schema)
        while try cursor.next(into: batch) {
            related.begin(batch)
            for index in 0..<batch.count {
                let row = batch.row(index)
                if context.identityMap(row.entity, store).find(row.key).map(context.isChangedHere) == true { continue }
                if isJudged, !evaluator.matches(row, related) { continue }
                let keys = order.values(row, related)
                found.append(Item(object: context.object(of: row, Int32(truncatingIfNeeded: store)), keys: keys))
            }
            try throwFailures()
        }
        let changed = pending
        for start in stride(from: 0, to: changed.count, by: 256) {
            let block = changed[start..<min(start + 256, changed.count)]
            batch.clear()
            for object in block { object.encode(into: batch) }
            related.begin(batch)
            for (index, object) in block.enumerated() where evaluator.matches(batch.row(index), related) {
                found.append(Item(object: object, keys: order.values(batch.row(index), related)))
            }
            try throwFailures()
        }
        return found
    }

    /// The part of the plan that the store evaluates correctly for unchanged objects: without limit and order, and without conditions that
    /// read changed data of other objects. Conditions that can fail are left out too: the store would evaluate them for objects that were
    /// changed here, and for those that another condition excludes.
    private var unaffected: FetchPlan {
        var part = plan
        part.limit = nil
        part.offset = 0
        part.sort = []
        part.fields = .all
        let conditions = if case .and(let parts) = plan.predicate { parts } else { [plan.predicate] }
        let kept = conditions.filter { condition in
            part.predicate = condition
            let read = ListDependencies(part, prefetched: [], context.model.schema)
            return !condition.canFail && !read.reads(changedRoots, changedLinks)
        }
        part.predicate = kept.count == conditions.count ? plan.predicate : (kept.count == 1 ? kept[0] : .and(kept))
        if kept.isEmpty { part.predicate = .constant(true) }
        return part
    }

    private var changedRoots: Set<EntityIndex> {
        guard let tracker = context.tracker else { return [] }
        return Set([tracker.inserted, tracker.changed, tracker.deleted].joined().map { $0.description.root })
    }

    private var changedLinks: Set<Int> { Set(context.tracker?.links.keys.map(\.link) ?? []) }

    /// The objects that were changed here and may belong to the result, without duplicates.
    private var pending: [ManagedObject] {
        guard let tracker = context.tracker else { return [] }
        let entities = Set(plan.entities)
        var seen: Set<ObjectIdentifier> = []
        return [tracker.inserted, tracker.changed].joined().filter {
            Int($0._store) == store && entities.contains(Int($0._entity)) && context.isChangedHere($0) && !$0.isDeletedObject
                && seen.insert(ObjectIdentifier($0)).inserted
        }
    }
}

extension ObjectContext {
    /// Returns whether an object differs from the store: it is new, deleted, or has assignments that were not written.
    fileprivate func isChangedHere(_ object: ManagedObject) -> Bool { object._dirty != 0 || object.isNew || object.isDeletedObject }
}

/// The destination rows of relationships, with the changes of the context.
private final class PendingRows: RelatedRows {
    private let context: ObjectContext
    private let store: Int
    private let stored: StoredRows
    /// The rows together with their objects, which are retained because a released object's address could be reused.
    private var rows: [ObjectIdentifier: (object: ManagedObject, row: RowBatch)] = [:]
    private var failure: StorageError?

    init(_ context: ObjectContext, _ store: Int, _ reader: ReadSession) {
        self.context = context
        self.store = store
        stored = StoredRows(reader)
    }

    /// Sets the rows that are evaluated next. Their destinations are read together.
    func begin(_ batch: RowBatch) { stored.begin(batch) }

    func row(_ entity: EntityIndex, _ key: Int64) -> RowView? {
        guard let object = context.identityMap(entity, store).find(key), context.isChangedHere(object) else {
            return stored.row(entity, key)
        }
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

    /// Returns the present values of an object as a row.
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
