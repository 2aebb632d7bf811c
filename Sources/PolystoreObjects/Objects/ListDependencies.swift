internal import PolystoreStorage

/// The data that a list's condition, order and prefetched relationships read beside the rows of its own objects.
package struct ListDependencies {
    /// A path over to-one relationships, and the slots that are read at its end.
    package struct Way {
        /// The path whose value is the key of the object at the end.
        package let path: CheckedPath
        /// The root entity of that object.
        package let root: EntityIndex
        /// The slots that are read at the end; nil for all.
        package var slots: Set<Int>?
    }

    private let schema: Schema
    /// Related objects from which a change can be traced back to the list's objects.
    package private(set) var ways: [Way] = []
    /// Entities (by root) and link tables whose changes cannot be traced to objects: the list is fetched again.
    package private(set) var roots: Set<EntityIndex> = []
    package private(set) var links: Set<Int> = []

    package init(_ plan: FetchPlan, prefetched: [PropertyPath], _ schema: Schema) {
        self.schema = schema
        add(plan.predicate)
        for sort in plan.sort { sort.expression.walk { node, depth in add(node, depth) } }
        for path in prefetched { add(prefetched: path, plan.entity) }
    }

    package var isEmpty: Bool { ways.isEmpty && roots.isEmpty && links.isEmpty }

    /// Returns whether the list reads changes of objects of some hierarchies, or of some link tables.
    func reads(_ changedRoots: Set<EntityIndex>, _ changedLinks: Set<Int>) -> Bool {
        !roots.isDisjoint(with: changedRoots) || !links.isDisjoint(with: changedLinks) || ways.contains { changedRoots.contains($0.root) }
    }

    private mutating func add(_ path: CheckedPath) {
        var steps: [CheckedPath.Step] = []
        for (index, step) in path.steps.enumerated() {
            let isLast = index == path.steps.count - 1
            var read: Set<Int> = []
            if isLast, case .slot(let slot) = path.leaf { read = [slot] }
            if !isLast { read = [path.steps[index + 1].slot] }
            addWay(steps, step, read)
            steps.append(step)
        }
    }

    private mutating func addWay(_ steps: [CheckedPath.Step], _ step: CheckedPath.Step, _ slots: Set<Int>?) {
        let path = CheckedPath(steps: steps, entity: step.entity, leaf: .slot(step.slot), type: .int64, text: "")
        if let index = ways.firstIndex(where: { $0.path == path }) {
            if let slots { ways[index].slots?.formUnion(slots) } else { ways[index].slots = nil }
        } else {
            ways.append(Way(path: path, root: schema[step.destination].root, slots: slots))
        }
    }

    private mutating func add(_ members: CheckedMembers) {
        for hop in members.hops {
            switch hop {
            case .toOne(let step): roots.insert(schema[step.destination].root)
            case .toMany(let entity, let relationship, let destination):
                roots.insert(schema[destination].root)
                switch schema[entity].relationships[relationship].place {
                case .link(let link, _), .orderedInverseSlot(_, let link): links.insert(link)
                case .slot, .inverseSlot: break
                }
            }
        }
        addRoots(members.predicate)
    }

    /// Adds the entities that a condition on related objects reads, whose objects have unknown owners.
    private mutating func addRoots(_ predicate: CheckedPredicate) {
        var inner = ListDependencies(schema)
        inner.add(predicate)
        roots.formUnion(inner.roots)
        roots.formUnion(inner.ways.map(\.root))
        links.formUnion(inner.links)
    }

    private init(_ schema: Schema) { self.schema = schema }

    private mutating func add(_ predicate: CheckedPredicate) { predicate.walk { node, depth in add(node, depth) } }

    private mutating func add(_ node: CheckedNode, _ depth: Int) -> CheckedWalk {
        switch node {
        case .property(let path) where depth > 0:
            var inner = ListDependencies(schema)
            inner.add(path)
            roots.formUnion(inner.ways.map(\.root))
        case .property(let path): add(path)
        case .members(let members):
            add(members)
            return .over
        case .predicate, .expression: break
        }
        return .into
    }

    private mutating func add(prefetched path: PropertyPath, _ entity: EntityIndex) {
        var steps: [CheckedPath.Step] = [], entity = entity
        for name in path.names {
            guard let index = schema[entity].relationshipIndex(name) else { return }
            let relationship = schema[entity].relationships[index]
            switch relationship.place {
            case .slot(let slot):
                let step = CheckedPath.Step(entity: entity, slot: slot, destination: relationship.destination)
                addWay(steps, step, nil)
                steps.append(step)
            case .inverseSlot, .link, .orderedInverseSlot:
                // A change of the members does not show to which objects they belonged.
                return
            }
            entity = relationship.destination
        }
    }
}
