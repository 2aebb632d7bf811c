internal import PolystoreObjects

/// Keeps a sorted list of row locators up to date with commits. The cost depends on the number of changes, not on the number of objects.
///
/// A commit names the objects that it touched. Their rows are read, and only they can enter, leave or move. The recorded sort values of the
/// others are those of their last read, so the order within the list is always consistent. If a row in the snapshot is newer than the
/// commit at hand, its version shows this, and the commit that wrote it has no further effect.
final class ListEngine {
    typealias Item = ListContents.Item

    /// The next state, which `take` applies.
    struct Step {
        enum Rows {
            case edited(ListRows.Edits)
            case fetched(ListRows, stores: [Int], isComplete: Bool)
        }

        let rows: Rows
        /// The contents of the list in this state.
        let contents: ListContents
        /// The differences; nil if they are unknown, so that a front end must reload the list.
        let changes: ListChanges?
        /// The objects whose values changed and that are in both states.
        let updated: Set<Item>
        /// Whether it was computed by fetching everything, so that it includes all commits of the snapshot.
        var isWhole = false
        /// The commits that the new contents already include, by store; nil if the list was not fetched again.
        var seen: [Int: SeenHistory]?
    }

    let query: ListQuery
    let core: StackCore
    let dependencies: ListDependencies
    /// Whether pairs of a to-many relationship belong to the list's objects.
    let ownsPairs: Bool
    private var evaluations: [Int32: Evaluation] = [:]
    private(set) var rows: ListRows
    private(set) var stores: [Int] = []
    /// The contents of the list: the window that limit and offset select from the rows.
    private(set) var contents = ListContents()
    /// The start positions of its sections.
    private(set) var starts = SectionStarts(ListContents().sections)
    /// Whether commits could not be followed, so that the list must be fetched again.
    var isBehind = false
    /// The commits that were visible when the list was fetched, although they may be delivered later. Their changes of related objects are
    /// already included. For its own objects the list records versions.
    private(set) var seen: [Int: SeenHistory] = [:]
    /// Whether the rows are complete. Otherwise they are the first ones, some more than the window needs.
    private(set) var isComplete = true

    init(_ query: ListQuery, _ core: StackCore) {
        self.query = query
        self.core = core
        dependencies = ListDependencies(query.plan, prefetched: query.prefetched, core.model.schema)
        ownsPairs = core.model.schema.links.contains { core.model.schema[$0.owner].root == query.root }
        rows = ListRows(query.plan.sort)
    }

    /// Condition and order, with the named objects as those of one store.
    struct Evaluation {
        let condition: PredicateEvaluator
        let order: RowOrder
    }

    func evaluation(of store: Int32) -> Evaluation {
        if let known = evaluations[store] { return known }
        let plan = query.plan.bound(to: core.storeID(Int(store)), in: core.model.schema)
        let evaluation = Evaluation(
            condition: PredicateEvaluator(plan.predicate, schema: core.model.schema), order: RowOrder(plan.sort, schema: core.model.schema))
        evaluations[store] = evaluation
        return evaluation
    }

    // MARK: Windows and sections

    private func window(_ count: Int) -> Range<Int> {
        let start = min(query.offset, count)
        return start..<min(count, query.limit.map { Self.sum(start, $0) } ?? count)
    }

    /// Returns a sum, limited to the greatest integer.
    static func sum(_ a: Int, _ b: Int) -> Int {
        let sum = a.addingReportingOverflow(b)
        return sum.overflow ? .max : sum.partialValue
    }

    var isWindowed: Bool { query.limit != nil || query.offset > 0 }

    func contents(of rows: ListRows) -> ListContents {
        let window = window(rows.count)
        let items = window.count == rows.count ? rows.items : ContiguousArray(rows.items[window])
        if !query.isSectioned { return ListContents(items: items) }
        var sections: [ListContents.Section] = [], last: Value?
        for position in window {
            let value = rows.sectionValue(position)
            // An empty text has an empty name, like nil; the two are adjacent.
            if !sections.isEmpty, value == last || ExactText(value.sectionName) == sections[sections.count - 1].id {
                sections[sections.count - 1].count += 1
            } else {
                sections.append(ListContents.Section(name: value.sectionName, count: 1))
            }
            last = value
        }
        return ListContents(items: items, sections: sections)
    }

    /// Applies the next state.
    func take(_ step: Step) {
        switch step.rows {
        case .edited(let edits): rows.apply(edits)
        case .fetched(let rows, let stores, let isComplete):
            self.rows = rows
            isBehind = false
            self.stores = stores
            self.isComplete = isComplete
        }
        if let seen = step.seen { self.seen = seen }
        contents = step.contents
        starts = SectionStarts(contents.sections)
    }
}

/// Lists of a detached transaction: the committed contents, corrected by the pending changes in its memory.
extension ListEngine {
    /// Fetches everything as a transaction sees it.
    func fetchPending(_ context: ObjectContext) throws(StorageError) {
        let stores = try core.stores(for: query.plan.entity, query.configurations)
        let rows = try pendingRows(stores, context)
        take(Step(rows: .fetched(rows, stores: stores, isComplete: true), contents: contents(of: rows), changes: nil, updated: []))
    }

    /// Returns the differences in the contents that the transaction sees; nil if there are none.
    ///
    /// - Complexity: That of a fetch with pending changes: all objects of the list are evaluated again.
    func stepPending(_ context: ObjectContext) throws(StorageError) -> Step? {
        let routed = (try? core.stores(for: query.plan.entity, query.configurations)) ?? []
        let rows = try pendingRows(routed, context)
        if routed == stores { return changed(to: rows, isComplete: true) }
        return Step(rows: .fetched(rows, stores: routed, isComplete: true), contents: contents(of: rows), changes: nil, updated: [])
    }

    private func pendingRows(_ stores: [Int], _ context: ObjectContext) throws(StorageError) -> ListRows {
        var plan = query.plan, rows = ListRows(plan.sort)
        plan.limit = nil
        plan.offset = 0
        for found in try PendingFetch.rows(plan, stores, context) {
            rows.append(
                ListRows.Row(item: Item(key: found.object._key, store: found.object._store), version: found.digest, values: found.keys))
        }
        return rows
    }
}
