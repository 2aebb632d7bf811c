public import PolystoreSchema

/// What answering a plan above its store reads: of the rows of the fetch, and of the rows that relationships lead to from there.
///
/// References are read with every row, so they are not named.
public struct ReadFields: Sendable {
    /// The slots of the rows of the fetch.
    public private(set) var own = SlotMask()
    /// The slots of related rows, by the root of their hierarchy.
    public private(set) var related: [EntityIndex: SlotMask] = [:]
    private let schema: Schema

    /// What the condition and order of a fetch read.
    public init(_ plan: FetchPlan, schema: Schema) {
        self.schema = schema
        add(plan.predicate, 0)
        for key in plan.sort { add(key.expression, 0) }
    }

    /// What a query for values reads.
    public init(_ plan: QueryPlan, schema: Schema) {
        self.init(plan.fetch, schema: schema)
        switch plan.kind {
        case .rows(let outputs): for output in outputs { add(output, 0) }
        case .groups(let grouping):
            for part in grouping.keys + grouping.aggregates.compactMap(\.argument) { add(part, 0) }
        }
    }

    /// - Parameter depth: How many conditions on related objects are around; the object outside of all is that of the fetch.
    private mutating func add(_ path: CheckedPath, _ depth: Int) {
        for step in path.steps { related[schema[step.destination].root, default: SlotMask()].formUnion(SlotMask()) }
        guard case .slot(let slot) = path.leaf else { return }
        if depth == 0, path.steps.isEmpty {
            own.insert(slot)
        } else {
            related[schema[path.entity].root, default: SlotMask()].insert(slot)
        }
    }

    private mutating func add(_ members: CheckedMembers, _ depth: Int) {
        for hop in members.hops {
            switch hop {
            case .toOne(let step): related[schema[step.destination].root, default: SlotMask()].formUnion(SlotMask())
            case .toMany(_, _, let destination): related[schema[destination].root, default: SlotMask()].formUnion(SlotMask())
            }
        }
        add(members.predicate, depth + 1)
    }

    private mutating func add(_ expression: CheckedExpression, _ depth: Int) {
        switch expression {
        case .path(let path): add(path, depth)
        case .outer(let level, let path): add(path, depth - level)
        case .value: break
        case .function(_, let arguments, _): for argument in arguments { add(argument, depth) }
        case .conditional(let condition, let a, let b, _):
            add(condition, depth)
            add(a, depth)
            add(b, depth)
        case .related(_, let members, let path, _):
            add(members, depth)
            if let path { add(path, depth + 1) }
        }
    }

    private mutating func add(_ predicate: CheckedPredicate, _ depth: Int) {
        switch predicate {
        case .constant, .isEntity: break
        case .isNil(let path), .compare(let path, _, _), .isIn(let path, _), .text(let path, _, _): add(path, depth)
        case .comparePaths(let a, _, let b):
            add(a, depth)
            add(b, depth)
        case .compareExpressions(let a, _, let b):
            add(a, depth)
            add(b, depth)
        case .isInExpression(let expression, _), .textOf(let expression, _, _): add(expression, depth)
        case .related(let members): add(members, depth)
        case .and(let parts), .or(let parts): for part in parts { add(part, depth) }
        case .not(let part): add(part, depth)
        }
    }
}

extension FetchPlan.Fields {
    /// These and some more slots.
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
