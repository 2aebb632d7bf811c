internal import PolystoreObjects

/// The request of a list, resolved in the schema.
struct ListQuery: Sendable {
    /// The objects and their order, without limit and offset.
    let plan: FetchPlan
    let limit: Int?
    let offset: Int
    let configurations: [String?]?
    let isSectioned: Bool
    let prefetched: [PropertyPath]
    /// The root of the entity's hierarchy.
    let root: EntityIndex

    /// - Throws: `invalidPredicate` for a request that is invalid for the model, or if the order does not keep sections together.
    init<Object: ManagedObject>(_ from: From<Object>, _ sectionBy: SectionBy<Object>?, _ model: StackModel) throws(StorageError) {
        var plan = try from.plan(model)
        (limit, offset) = (plan.limit, plan.offset)
        plan.limit = nil
        plan.offset = 0
        configurations = from.configurations
        prefetched = from.prefetched
        isSectioned = sectionBy != nil
        if let sectionBy {
            if let problem = sectionBy.problem { throw problem }
            let asked = try From<Object>().copyingEntity(of: from).orderBy(sectionBy.order).plan(model)
            guard let wanted = asked.sort.first?.expression else { throw Self.unsorted(sectionBy.name) }
            guard plan.sort.first?.expression == wanted else { throw Self.unsorted(sectionBy.name) }
        }
        root = model.schema[plan.entity].root
        self.plan = Self.withFields(plan)
    }

    private static func unsorted(_ name: String) -> StorageError {
        StorageError(
            .invalidPredicate, "sections by \"\(name)\" require an order that starts with it: .orderBy(.ascending(…\(name)), …)",
            details: .init(property: name))
    }

    /// Restricts a plan to the fields of each row that the order needs.
    private static func withFields(_ plan: FetchPlan) -> FetchPlan {
        var plan = plan
        if plan.sort.isEmpty {
            plan.fields = .keysOnly
            return plan
        }
        var mask = SlotMask()
        for sort in plan.sort {
            guard case .path(let path) = sort.expression else { return plan }
            if let first = path.steps.first {
                mask.insert(first.slot)
            } else if case .slot(let slot) = path.leaf {
                mask.insert(slot)
            }
        }
        plan.fields = .some(mask)
        return plan
    }
}
