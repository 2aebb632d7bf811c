public import PolystoreSchema

/// The fields that the evaluation of a plan above its store reads: of the rows of the fetch, and of the related rows.
///
/// References are read with every row, so they are not listed.
package struct ReadFields: Sendable {
    /// The slots of the rows of the fetch.
    package private(set) var own = SlotMask()
    /// The slots of related rows, by the root of their hierarchy.
    package private(set) var related: [EntityIndex: SlotMask] = [:]
    private let schema: Schema

    /// Creates the fields that the condition and order of a fetch read.
    package init(_ plan: FetchPlan, schema: Schema) {
        self.schema = schema
        plan.predicate.walk { node, depth in add(node, depth) }
        for key in plan.sort { add(key.expression) }
    }

    /// Creates the fields that expressions read.
    package init(_ expressions: some Sequence<CheckedExpression>, schema: Schema) {
        self.schema = schema
        for expression in expressions { add(expression) }
    }

    /// Creates the fields that a query for values reads.
    package init(_ plan: QueryPlan, schema: Schema) {
        self.init(plan.fetch, schema: schema)
        switch plan.kind {
        case .rows(let outputs): for output in outputs { add(output) }
        case .groups(let grouping):
            for part in grouping.keys + grouping.aggregates.compactMap(\.argument) { add(part) }
        }
    }

    private mutating func add(_ expression: CheckedExpression) { expression.walk { node, depth in add(node, depth) } }

    private mutating func add(_ node: CheckedNode, _ depth: Int) -> CheckedWalk {
        switch node {
        case .property(let path): add(path, depth)
        case .members(let members):
            for hop in members.hops {
                switch hop {
                case .toOne(let step): addObject(step.destination)
                case .toMany(_, _, let destination): addObject(destination)
                }
            }
        case .predicate, .expression: break
        }
        return .into
    }

    private mutating func add(_ path: CheckedPath, _ depth: Int) {
        for step in path.steps { addObject(step.destination) }
        guard case .slot(let slot) = path.leaf else { return }
        if depth == 0, path.steps.isEmpty {
            own.insert(slot)
        } else {
            related[schema[path.entity].root, default: SlotMask()].insert(slot)
        }
    }

    /// Adds the key of an object, which needs none of its slots.
    private mutating func addObject(_ entity: EntityIndex) { related[schema[entity].root, default: SlotMask()].formUnion(SlotMask()) }
}

extension FetchPlan.Fields {
    /// Returns these fields and some more slots.
    public func adding(_ slots: SlotMask) -> FetchPlan.Fields {
        switch self {
        case .all: return .all
        case .keysOnly: return .some(slots)
        case .some(var mask):
            mask.formUnion(slots)
            return .some(mask)
        }
    }
}
