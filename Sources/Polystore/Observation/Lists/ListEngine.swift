internal import PolystoreStorage

/// Keeps a sorted list of places up to date with commits: what changed decides, not the number of objects.
///
/// A commit names the objects that it touched. Their rows are read, and only they can enter, leave or move. What is remembered of the others
/// is what they were when they were last read, so the order within the list is always one of values that belong together; a row that is
/// newer in the snapshot than the commit at hand says so by its version, and the commit that made it changes nothing more.
final class ListEngine {
    typealias Item = ListContents.Item

    /// The next state, which takes over with `take`.
    struct Step {
        fileprivate enum Rows {
            case edited(ListRows.Edits)
            case fetched(ListRows, stores: [Int], isComplete: Bool)
        }

        fileprivate let rows: Rows
        /// What the list holds then.
        let contents: ListContents
        /// What is different; nil where nobody knows, so that whoever shows the list begins anew.
        let changes: ListChanges?
        /// The objects whose values changed and that are in both states.
        let updated: Set<Item>
    }

    let query: ListQuery
    private let core: StackCore
    private let dependencies: ListDependencies
    private let evaluator: PredicateEvaluator
    private let order: RowOrder
    private var rows: ListRows
    private(set) var stores: [Int] = []
    /// What the list holds: the window that limit and offset cut out of the rows.
    private(set) var contents = ListContents()
    /// Where its sections begin.
    private(set) var starts = SectionStarts(ListContents().sections)
    /// Whether the rows are all there are; otherwise they are the first ones, some more than the window needs.
    private var isComplete = true

    init(_ query: ListQuery, _ core: StackCore) {
        self.query = query
        self.core = core
        dependencies = ListDependencies(query.plan, prefetched: query.prefetched, core.model.schema)
        evaluator = PredicateEvaluator(query.plan.predicate, schema: core.model.schema)
        order = RowOrder(query.plan.sort, schema: core.model.schema)
        rows = ListRows(query.plan.sort)
    }

    // MARK: Fetching

    /// Fetches everything.
    func fetch(_ sessions: SessionPool) throws(StorageError) {
        take(try fetched(try core.stores(for: query.plan.entity, query.configurations), sessions))
    }

    private func fetched(_ stores: [Int], _ sessions: SessionPool) throws(StorageError) -> Step {
        let (rows, isComplete) = try fetchRows(stores, sessions)
        return Step(rows: .fetched(rows, stores: stores, isComplete: isComplete), contents: contents(of: rows), changes: nil, updated: [])
    }

    /// How many rows beyond its window a list with a limit remembers, so that some can leave before it is fetched anew.
    private var wanted: Int? {
        query.limit.map { limit in
            let end = query.offset.addingReportingOverflow(limit)
            return end.overflow ? Int.max : end.partialValue.addingReportingOverflow(max(16, limit / 4)).partialValue
        }
    }

    private func fetchRows(_ stores: [Int], _ sessions: SessionPool) throws(StorageError) -> (ListRows, isComplete: Bool) {
        var plan = query.plan
        plan.limit = wanted
        let stream = try RowStream(plan, stores, sessions, core.model.schema, batchSize: 1024)
        var rows = ListRows(plan.sort), related: [Int16: StoredRows] = [:]
        for store in stores { related[Int16(truncatingIfNeeded: store)] = StoredRows(try sessions.reader(store), core.model.schema) }
        while let row = try stream.next({ row, store throws(StorageError) -> ListRows.Row in
            guard let related = related[store] else { throw StorageError(.storeClosed, "a store of the list was removed") }
            return try self.row(row, store, related)
        }) { rows.append(row) }
        return (rows, wanted.map { rows.count < $0 } ?? true)
    }

    private func row(_ row: borrowing RowView, _ store: Int16, _ related: StoredRows) throws(StorageError) -> ListRows.Row {
        let values = query.plan.sort.isEmpty ? [] : order.values(row, related, query.plan.sort)
        try related.throwFailure()
        do throws(QueryError) { try order.throwFailure() } catch { throw StorageError(error) }
        return ListRows.Row(item: Item(key: row.key, store: store), version: row.version, values: values)
    }

    // MARK: Windows and sections

    private func window(_ count: Int) -> Range<Int> {
        let start = min(query.offset, count)
        return start..<min(count, query.limit.map { start.addingReportingOverflow($0).partialValue } ?? count)
    }

    private var isWindowed: Bool { query.limit != nil || query.offset > 0 }

    private func contents(of rows: ListRows) -> ListContents {
        let window = window(rows.count)
        let items = window.count == rows.count ? rows.items : ContiguousArray(rows.items[window])
        if !query.isSectioned { return ListContents(items: items) }
        var sections: [ListContents.Section] = [], last: Value?
        for position in window {
            let value = rows.sectionValue(position)
            // An empty text has no name, as nil has none; they follow each other.
            if !sections.isEmpty, value == last || value.sectionName == sections[sections.count - 1].name {
                sections[sections.count - 1].count += 1
            } else {
                sections.append(ListContents.Section(name: value.sectionName, count: 1))
            }
            last = value
        }
        return ListContents(items: items, sections: sections)
    }

    // MARK: Following

    /// What commits mean for the list; nil where they do not concern it.
    func step(_ batch: CommitBatch, _ sessions: SessionPool) throws(StorageError) -> Step? {
        // Without a store of its entity a list is empty until one comes.
        let routed = (try? core.stores(for: query.plan.entity, query.configurations)) ?? []
        if routed != stores || !batch.unknown.isDisjoint(with: stores) { return try fetched(routed, sessions) }
        let concerned = stores.filter { batch.changes[$0] != nil }
        if concerned.isEmpty { return nil }
        var touched: Set<Item> = [], observed: Set<Item> = [], isWhole = false
        let most = max(rows.count / 4, 256)
        for store in concerned {
            observed.formUnion(try related(batch, store, sessions))
            if isUndecided(batch, store) || !touch(batch, store, most, &touched) { isWhole = true }
        }
        touched.formUnion(observed)
        if isWhole || touched.count > most { return try refetched(sessions, observed) }
        if touched.isEmpty { return nil }
        return try edited(touched, observed, batch.rows, sessions)
    }

    /// Whether something changed of which it is not known what it means for which object.
    private func isUndecided(_ batch: CommitBatch, _ store: Int) -> Bool {
        if dependencies.roots.isEmpty, dependencies.links.isEmpty { return false }
        let schema = core.model.schema
        if !(batch.links[store]?.isDisjoint(with: dependencies.links) ?? true) { return true }
        return batch.entities[store]?.contains { dependencies.roots.contains(schema[$0].root) } ?? false
    }

    /// Adds the list's own objects that changed; false where there are too many.
    private func touch(_ batch: CommitBatch, _ store: Int, _ most: Int, _ touched: inout Set<Item>) -> Bool {
        guard let entities = batch.entities[store], query.plan.entities.contains(where: entities.contains) else { return true }
        for run in batch.runs(in: store) where query.plan.entities.contains(run.entity) {
            if case .links = run.kind { continue }
            if run.keys.count > most - touched.count { return false }
            for key in run.keys { touched.insert(Item(key: key, store: Int16(truncatingIfNeeded: store))) }
        }
        return true
    }

    /// The list's objects from which something that changed can be reached.
    private func related(_ batch: CommitBatch, _ store: Int, _ sessions: SessionPool) throws(StorageError) -> [Item] {
        var found: [Item] = []
        for way in dependencies.ways {
            var keys: Set<Int64> = []
            for run in batch.runs(in: store) where core.model.schema[run.entity].root == way.root {
                switch run.kind {
                case .links, .insert: continue
                case .delete: keys.formUnion(run.keys)
                case .update(let mask):
                    if let slots = way.slots, !slots.contains(where: { mayHaveChanged($0, mask, run.entity) }) { continue }
                    keys.formUnion(run.keys)
                }
            }
            if keys.isEmpty { continue }
            let values = keys.sorted().map { Value.int($0) }
            let plan = FetchPlan(
                entity: query.plan.entity, entities: query.plan.entities, predicate: .isIn(way.path, values), fields: .keysOnly)
            let stream = try RowStream(plan, [store], sessions, core.model.schema)
            while let item = try stream.next({ row, store in Item(key: row.key, store: store) }) { found.append(item) }
        }
        return found
    }

    /// Whether an attribute is among the changed ones, or one that the history does not name.
    private func mayHaveChanged(_ slot: Int, _ mask: SlotMask, _ entity: EntityIndex) -> Bool {
        if mask.contains(slot) { return true }
        let slots = core.model.schema[entity].slots
        return slots.indices.contains(slot) && slots[slot].attribute?.history == .excluded
    }

    /// Everything anew, and what is different from before.
    private func refetched(_ sessions: SessionPool, _ observed: Set<Item>) throws(StorageError) -> Step? {
        let (next, isComplete) = try fetchRows(stores, sessions)
        let known = Dictionary(zip(rows.items, rows.versions)) { first, _ in first }
        let contents = contents(of: next)
        let shown = Set(contents.items)
        var updated: Set<Item> = []
        for (item, version) in zip(next.items, next.versions) where shown.contains(item) {
            if let before = known[item], before != version || observed.contains(item) { updated.insert(item) }
        }
        updated.formIntersection(self.contents.items)
        let changes = ListChanges(from: self.contents, to: contents, updated: updated)
        let rows = Step.Rows.fetched(next, stores: stores, isComplete: isComplete)
        if changes.isEmpty {
            take(Step(rows: rows, contents: contents, changes: changes, updated: []))
            return nil
        }
        return Step(rows: rows, contents: contents, changes: changes, updated: updated)
    }

    /// The rows of touched objects as they are now; those that do not belong to the list are left out.
    private func present(_ touched: Set<Item>, _ rows: TouchedRows, _ sessions: SessionPool) throws(StorageError) -> [ListRows.Row] {
        var present: [ListRows.Row] = []
        for (store, items) in Dictionary(grouping: touched, by: \.store) {
            let batch = try rows.rows(query.root, items.map(\.key).sorted(), store, sessions)
            let related = StoredRows(try sessions.reader(Int(store)), core.model.schema)
            for index in 0..<batch.count {
                let view = batch.row(index)
                guard query.plan.entities.contains(view.entity), evaluator.matches(view, related) else { continue }
                present.append(try row(view, store, related))
            }
            try related.throwFailure()
            try evaluator.throwStorageFailure()
        }
        return present.sorted { self.rows.precedes($0, $1) }
    }

    private func edited(
        _ touched: Set<Item>, _ observed: Set<Item>, _ read: TouchedRows, _ sessions: SessionPool
    ) throws(StorageError) -> Step? {
        let present = try present(touched, read, sessions)
        let positions = rows.positions(of: touched)
        var edits = ListRows.Edits(), updated: Set<Item> = [], kept: Set<Item> = []
        for row in present {
            guard let position = positions[row.item] else {
                insert(row, &edits)
                continue
            }
            if rows.versions[position] != row.version || observed.contains(row.item) { updated.insert(row.item) }
            kept.insert(row.item)
            if rows.hasValues(row, at: position) {
                edits.versions.append((position, row.version))
            } else {
                edits.removals.append(position)
                insert(row, &edits)
            }
        }
        for (item, position) in positions where !kept.contains(item) { edits.removals.append(position) }
        edits.removals.sort()
        return try step(edits, touched, updated, sessions, observed)
    }

    private func insert(_ row: ListRows.Row, _ edits: inout ListRows.Edits) {
        let position = rows.place(of: row)
        // What comes behind the last known row may come behind unknown ones.
        if position < rows.count || isComplete { edits.insertions.append((position, row)) }
    }

    private func step(
        _ edits: ListRows.Edits, _ touched: Set<Item>, _ updated: Set<Item>, _ sessions: SessionPool, _ observed: Set<Item>
    ) throws(StorageError) -> Step? {
        if edits.isEmpty { return nil }
        let isStill = edits.removals.isEmpty && edits.insertions.isEmpty
        if !isStill, isWindowed || query.isSectioned { return try rebuilt(edits, touched, updated, sessions, observed) }
        if isWindowed || query.isSectioned { return finish(.edited(edits), contents, touched, updated) }
        // A tenth of the time of a small step would be to find out again where the lists differ.
        let next = isStill ? contents : ListContents(items: rows.items(after: edits))
        let changes = ListChanges(from: contents, to: next, loose: edits.loosePositions, updated: updated)
        return finish(Step(rows: .edited(edits), contents: next, changes: changes, updated: updated))
    }

    /// The next state of a list with a window or sections.
    private func rebuilt(
        _ edits: ListRows.Edits, _ touched: Set<Item>, _ updated: Set<Item>, _ sessions: SessionPool, _ observed: Set<Item>
    ) throws(StorageError) -> Step? {
        var next = rows, isComplete = isComplete
        next.apply(edits)
        if let wanted, let limit = query.limit {
            if !isComplete, next.count < query.offset + limit { return try refetched(sessions, observed) }
            if next.count > wanted + max(16, limit / 4) {
                next.truncate(to: wanted)
                isComplete = false
            }
        }
        return finish(.fetched(next, stores: stores, isComplete: isComplete), contents(of: next), touched, updated)
    }

    private func finish(_ rows: Step.Rows, _ contents: ListContents, _ touched: Set<Item>, _ updated: Set<Item>) -> Step? {
        let updated = isWindowed ? updated.intersection(contents.items).intersection(self.contents.items) : updated
        let changes =
            isWindowed
            ? ListChanges(from: self.contents, to: contents, updated: updated)
            : ListChanges(from: self.contents, to: contents, touched: touched, updated: updated)
        return finish(Step(rows: rows, contents: contents, changes: changes, updated: updated))
    }

    private func finish(_ step: Step) -> Step? {
        if step.changes?.isEmpty != true { return step }
        // Nothing that anybody sees; versions and rows beyond the window go on.
        take(step)
        return nil
    }

    /// Goes on to the next state.
    func take(_ step: Step) {
        switch step.rows {
        case .edited(let edits): rows.apply(edits)
        case .fetched(let rows, let stores, let isComplete):
            self.rows = rows
            self.stores = stores
            self.isComplete = isComplete
        }
        contents = step.contents
        starts = SectionStarts(contents.sections)
    }
}
