internal import PolystoreStorage

/// The properties whose values requests read or compare anywhere. A store may use an index that begins with one of them.
struct UsedProperties {
    private struct Column: Hashable {
        let root: EntityIndex
        let column: Int
    }

    private var columns: Set<Column> = []
    private let schema: Schema

    init(_ plans: [AdvisedRequest.Plan], _ schema: Schema) {
        self.schema = schema
        for plan in plans {
            plan.fetch.predicate.walk { node, _ in add(node) }
            for expression in plan.expressions { expression.walk { node, _ in add(node) } }
        }
    }

    /// Whether a property is used, in a request for any entity of its hierarchy that has it.
    func contains(_ slot: Int, of entity: EntityIndex) -> Bool { columns.contains(column(slot, entity)) }

    private func column(_ slot: Int, _ entity: EntityIndex) -> Column {
        Column(root: schema[entity].root, column: schema[entity].slots[slot].column)
    }

    private mutating func add(_ node: CheckedNode) -> CheckedWalk {
        switch node {
        case .property(let path):
            for step in path.steps { columns.insert(column(step.slot, step.entity)) }
            if case .slot(let slot) = path.leaf { columns.insert(column(slot, path.entity)) }
        case .members(let members):
            for hop in members.hops {
                switch hop {
                case .toOne(let step): columns.insert(column(step.slot, step.entity))
                case .toMany(let entity, let position, let destination):
                    // The members are found by their reference to the object.
                    let inverse = schema[entity].relationships[position].relationship.inverse
                    if let slot = inverse.flatMap(schema[destination].slot) { columns.insert(column(slot, destination)) }
                }
            }
        case .predicate, .expression: break
        }
        return .into
    }
}
