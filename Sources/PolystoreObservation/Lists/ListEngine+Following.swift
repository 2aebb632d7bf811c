internal import PolystoreObjects

extension ListEngine {
    /// The number of touched objects that are processed one by one regardless of the length of the list. Their rows are read once for all
    /// lists, while fetching a list again may read the whole table.
    private static let fewObjects = 4096

    /// Whether a step reads only the rows of changed objects, unless it fetches the list again.
    var isLocal: Bool { dependencies.isEmpty && query.limit == nil }

    /// Returns the step for commits; nil if they do not concern the list.
    ///
    /// - Parameters:
    ///   - batch: The commits.
    ///   - sessions: The snapshot in which they are evaluated.
    ///   - stale: The objects of the context that show the list and still have their old values.
    func step(_ batch: CommitBatch, _ sessions: SessionPool, _ stale: StaleObjects = StaleObjects()) throws(StorageError) -> Step? {
        // Without a store of its entity a list is empty until one is added.
        let routed = (try? core.stores(for: query.plan.entity, query.configurations)) ?? []
        if routed != stores || !batch.unknown.isDisjoint(with: stores) { return try fetched(routed, sessions) }
        if isBehind, !batch.stores.isDisjoint(with: stores) { return try fetched(routed, sessions) }
        let concerned = stores.filter(batch.hasChanges)
        if concerned.isEmpty { return nil }
        var touched: Set<Item> = [], observed: Set<Item> = [], isWhole = false
        let most = max(rows.count / 4, Self.fewObjects)
        for store in concerned {
            observed.formUnion(try related(batch, store, stale, sessions))
            observed.formUnion(shown(batch, store, stale))
            observed.formUnion(relinked(batch, store))
            if isUndecided(batch, store) || !touch(batch, store, most, &touched) { isWhole = true }
        }
        touched.formUnion(observed)
        if isWhole || touched.count > most { return try refetched(sessions, observed) }
        if touched.isEmpty { return nil }
        return try edited(touched, observed, batch.rows, sessions)
    }

    /// Returns whether a step for commits may also contain effects of other commits in the same snapshot.
    func mixes(_ step: Step, of batch: CommitBatch, with others: CommitBatch) -> Bool {
        if !others.unknown.isDisjoint(with: stores) { return true }
        let schema = core.model.schema
        for store in stores where others.hasChanges(in: store) {
            // Related rows were read together with those of the list.
            if isUndecided(others, store) { return true }
            let roots = Set((others.entities[store] ?? []).map { schema[$0].root })
            if dependencies.ways.contains(where: { roots.contains($0.root) }) { return true }
            guard roots.contains(query.root) else { continue }
            if step.isWhole || batch.touchesSameObjects(as: others, query.root, store, schema) { return true }
        }
        return false
    }

    /// Returns whether there is a change whose effect on individual objects is unknown.
    private func isUndecided(_ batch: CommitBatch, _ store: Int) -> Bool {
        if dependencies.roots.isEmpty, dependencies.links.isEmpty { return false }
        let schema = core.model.schema
        if !(batch.links[store]?.isDisjoint(with: dependencies.links) ?? true) { return true }
        return batch.entities[store]?.contains { dependencies.roots.contains(schema[$0].root) } ?? false
    }

    /// Adds the list's own objects that changed. Returns false if there are too many.
    private func touch(_ batch: CommitBatch, _ store: Int, _ most: Int, _ touched: inout Set<Item>) -> Bool {
        guard let entities = batch.entities[store], query.plan.entities.contains(where: entities.contains) else { return true }
        for run in batch.runs(in: store) where query.plan.entities.contains(run.entity) {
            if case .links = run.kind { continue }
            if run.keys.count > most - touched.count { return false }
            for key in run.keys { touched.insert(Item(key: key, store: Int32(truncatingIfNeeded: store))) }
        }
        return true
    }

    /// Returns the list's own objects that the context still shows with their old values, regardless of the versions that the list has
    /// recorded.
    private func shown(_ batch: CommitBatch, _ store: Int, _ stale: StaleObjects) -> [Item] {
        if stale.isEmpty { return [] }
        return batch.runs(in: store).filter { query.plan.entities.contains($0.entity) }
            .flatMap { stale.keys(among: $0.keys, query.root, store) }.map { Item(key: $0, store: Int32(truncatingIfNeeded: store)) }
    }

    /// Returns the list's own objects with changed pairs of a to-many relationship. They count as updated, as they do in a commit, although
    /// their rows are unchanged.
    private func relinked(_ batch: CommitBatch, _ store: Int) -> [Item] {
        guard ownsPairs, batch.links[store] != nil else { return [] }
        let schema = core.model.schema
        var ranges: [ClosedRange<Int64>] = []
        for commit in batch.commits(in: store) where !(seen[store]?.holds(commit.position) ?? false) {
            for run in commit.runs {
                if case .links = run.kind, schema[run.entity].root == query.root { ranges.append(run.keys) }
            }
        }
        if ranges.isEmpty { return [] }
        let keys = KeyRanges(ranges)
        return rows.items.filter { $0.store == store && keys.contains($0.key) }
    }

    /// Returns the list's objects whose related objects changed.
    private func related(
        _ batch: CommitBatch, _ store: Int, _ stale: StaleObjects, _ sessions: SessionPool
    ) throws(StorageError) -> [Item] {
        var found: [Item] = []
        for way in dependencies.ways {
            let keys = keys(way, batch, store, stale)
            if keys.isEmpty { continue }
            let values = keys.sorted().map { Value.int($0) }
            let plan = FetchPlan(
                entity: query.plan.entity, entities: query.plan.entities, predicate: .isIn(.path(way.path), values), fields: .keysOnly)
            let stream = try RowStream(plan, [store], sessions, core.model.schema)
            while let item = try stream.next({ row, store in Item(key: row.key, store: store) }) { found.append(item) }
        }
        return found
    }

    /// Returns the changed objects at the end of a path. Of commits that the list has already seen it includes only those that the context
    /// still shows with their old values.
    private func keys(_ way: ListDependencies.Way, _ batch: CommitBatch, _ store: Int, _ stale: StaleObjects) -> Set<Int64> {
        var keys: Set<Int64> = []
        for commit in batch.commits(in: store) {
            let isSeen = seen[store]?.holds(commit.position) ?? false
            for run in commit.runs where core.model.schema[run.entity].root == way.root {
                switch run.kind {
                case .links, .insert: continue
                case .update(let mask):
                    if let slots = way.slots, !slots.contains(where: { mayHaveChanged($0, mask, run.entity) }) { continue }
                case .delete: break
                }
                if isSeen { keys.formUnion(stale.keys(among: run.keys, way.root, store)) } else { keys.formUnion(run.keys) }
            }
        }
        return keys
    }

    /// Returns whether an attribute is among the changed ones, or is one that the history does not record.
    private func mayHaveChanged(_ slot: Int, _ mask: SlotMask, _ entity: EntityIndex) -> Bool {
        if mask.contains(slot) { return true }
        let slots = core.model.schema[entity].slots
        return slots.indices.contains(slot) && slots[slot].attribute?.history == .excluded
    }

    /// Returns the current rows of touched objects, except those that do not belong to the list.
    private func present(_ touched: Set<Item>, _ rows: TouchedRows, _ sessions: SessionPool) throws(StorageError) -> [ListRows.Row] {
        var present: [ListRows.Row] = []
        for (store, items) in Dictionary(grouping: touched, by: \.store) {
            let batch = try rows.rows(query.root, items.map(\.key).sorted(), store, sessions)
            let related = StoredRows({ () throws(StorageError) in try sessions.reader(Int(store)) }, core.model.schema)
            related.begin(batch)
            let evaluator = evaluation(of: store).condition
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
        // A row after the last known one may belong after unknown ones.
        if position < rows.count || isComplete { edits.insertions.append((position, row)) }
    }

    private func step(
        _ edits: ListRows.Edits, _ touched: Set<Item>, _ updated: Set<Item>, _ sessions: SessionPool, _ observed: Set<Item>
    ) throws(StorageError) -> Step? {
        if edits.isEmpty { return nil }
        let isStill = edits.removals.isEmpty && edits.insertions.isEmpty
        if !isStill, isWindowed || query.isSectioned { return try rebuilt(edits, touched, updated, sessions, observed) }
        if isWindowed || query.isSectioned { return finish(.edited(edits), contents, touched, updated) }
        // Finding the differences of the lists again would take a tenth of the time of a small step.
        let next = isStill ? contents : ListContents(items: rows.items(after: edits))
        let changes = ListChanges(from: contents, to: next, loose: edits.loosePositions, updated: updated)
        return finish(Step(rows: .edited(edits), contents: next, changes: changes, updated: updated))
    }

    /// Returns the next state of a list with a window or sections.
    private func rebuilt(
        _ edits: ListRows.Edits, _ touched: Set<Item>, _ updated: Set<Item>, _ sessions: SessionPool, _ observed: Set<Item>
    ) throws(StorageError) -> Step? {
        var next = rows, isComplete = isComplete
        next.apply(edits)
        if let wanted, let limit = query.limit {
            if !isComplete, next.count < Self.sum(query.offset, limit) { return try refetched(sessions, observed) }
            if next.count > Self.sum(wanted, max(16, limit / 4)) {
                next.truncate(to: wanted)
                isComplete = false
            }
        }
        return finish(.fetched(next, stores: stores, isComplete: isComplete), contents(of: next), touched, updated)
    }

    func finish(_ rows: Step.Rows, _ contents: ListContents, _ touched: Set<Item>, _ updated: Set<Item>) -> Step? {
        let updated = isWindowed ? updated.intersection(contents.items).intersection(self.contents.items) : updated
        let changes =
            isWindowed
            ? ListChanges(from: self.contents, to: contents, updated: updated)
            : ListChanges(from: self.contents, to: contents, touched: touched, updated: updated)
        return finish(Step(rows: rows, contents: contents, changes: changes, updated: updated))
    }

    private func finish(_ step: Step) -> Step? {
        if step.changes?.isEmpty != true { return step }
        // The visible contents are unchanged; only versions and rows beyond the window change.
        take(step)
        return nil
    }
}
