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
        enum Rows {
            case edited(ListRows.Edits)
            case fetched(ListRows, stores: [Int], isComplete: Bool)
        }

        let rows: Rows
        /// What the list holds then.
        let contents: ListContents
        /// What is different; nil where nobody knows, so that whoever shows the list begins anew.
        let changes: ListChanges?
        /// The objects whose values changed and that are in both states.
        let updated: Set<Item>
        /// Whether it was found by fetching everything, so that it has whatever the snapshot has.
        var isWhole = false
        /// What the list begins anew with, by store; nil where it goes on.
        var seen: [Int: SeenHistory]?
    }

    let query: ListQuery
    let core: StackCore
    let dependencies: ListDependencies
    /// Whether pairs of a relationship to many belong to the list's objects.
    let ownsPairs: Bool
    private var evaluations: [Int32: Evaluation] = [:]
    private(set) var rows: ListRows
    private(set) var stores: [Int] = []
    /// What the list holds: the window that limit and offset cut out of the rows.
    private(set) var contents = ListContents()
    /// Where its sections begin.
    private(set) var starts = SectionStarts(ListContents().sections)
    /// Whether commits could not be followed, so that it is to begin anew.
    var isBehind = false
    /// The commits that were visible when the list began, though they may be told later: that an object can be reached from what they changed
    /// is no news. Of its own objects the list knows the versions.
    private(set) var seen: [Int: SeenHistory] = [:]
    /// Whether the rows are all there are; otherwise they are the first ones, some more than the window needs.
    private(set) var isComplete = true

    init(_ query: ListQuery, _ core: StackCore) {
        self.query = query
        self.core = core
        dependencies = ListDependencies(query.plan, prefetched: query.prefetched, core.model.schema)
        ownsPairs = core.model.schema.links.contains { core.model.schema[$0.owner].root == query.root }
        rows = ListRows(query.plan.sort)
    }

    /// Condition and order, with the objects that they name as those of one store.
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

    /// A sum, no greater than there are numbers.
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
            // An empty text has no name, as nil has none; they follow each other.
            if !sections.isEmpty, value == last || ExactText(value.sectionName) == sections[sections.count - 1].id {
                sections[sections.count - 1].count += 1
            } else {
                sections.append(ListContents.Section(name: value.sectionName, count: 1))
            }
            last = value
        }
        return ListContents(items: items, sections: sections)
    }

    /// Goes on to the next state.
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
