/// The objects that fetches have prefetched for others, and what they have prefetched. Objects that were fetched together share it.
///
/// The objects live as long as one of the objects that they were prefetched for. They do not retain that, neither through this container nor
/// through those of other objects, so that there is no reference cycle. An object that a later fetch with the same path returns is from then
/// on retained only by those who use it.
final class PrefetchedObjects {
    private struct Group {
        let plan: PrefetchPlan
        let objects: [ManagedObject]
    }

    /// The objects by the plan that prefetched them. A plan that contains an earlier one replaces its objects, so that repeated fetches do not
    /// retain members of the past.
    private var groups: [Group]
    /// The relationships that strict loading loads again when they are not known; none with lazy loading.
    let plan: PrefetchPlan

    /// Adds the objects that a plan has prefetched to those of earlier fetches.
    init(_ former: PrefetchedObjects?, _ loading: PrefetchPlan, _ loaded: [ManagedObject], planned: PrefetchPlan) {
        groups = (former?.groups ?? []).filter { !loading.contains($0.plan) }
        groups.append(Group(plan: loading, objects: loaded))
        plan = planned
    }

    /// Has the objects of earlier fetches, with another plan.
    init(_ former: PrefetchedObjects?, planned: PrefetchPlan) {
        groups = former?.groups ?? []
        plan = planned
    }

    /// Releases chains of objects one after the other: each object releases those that were prefetched for it, and a chain of any length would
    /// overflow the stack.
    deinit {
        var rest = groups.flatMap(\.objects)
        groups = []
        while var object = rest.popLast() {
            guard isKnownUniquelyReferenced(&object), let extras = object.extras, var next = extras.prefetched else { continue }
            extras.prefetched = nil
            // Others may share it, and retain its objects.
            guard isKnownUniquelyReferenced(&next) else { continue }
            rest += next.objects
            next.groups = []
        }
    }

    private var objects: [ManagedObject] { groups.count == 1 ? groups[0].objects : groups.flatMap(\.objects) }

    /// Returns those of prefetched objects that owners can retain: objects that retain an owner, through earlier fetches, would form a cycle
    /// with it. A number of steps proportional to the number of objects that those retain.
    static func retainable(_ loaded: [ManagedObject], by owners: [ManagedObject]) -> [ManagedObject] {
        let owners = Set(owners.map(ObjectIdentifier.init))
        var retainsOwner: [ObjectIdentifier: Bool] = [:]
        /// A depth-first search without recursion, because chains of fetches have any length.
        func search(_ first: PrefetchedObjects) -> Bool {
            var path = [(group: first, objects: first.objects, next: 0)]
            while let (group, objects, next) = path.last {
                guard next < objects.count else {
                    retainsOwner[ObjectIdentifier(group)] = false
                    path.removeLast()
                    continue
                }
                path[path.count - 1].next += 1
                let object = objects[next], inner = object.extras?.prefetched
                if owners.contains(ObjectIdentifier(object)) || inner.flatMap({ retainsOwner[ObjectIdentifier($0)] }) == true {
                    for (group, _, _) in path { retainsOwner[ObjectIdentifier(group)] = true }
                    return true
                }
                if let inner, retainsOwner[ObjectIdentifier(inner)] == nil { path.append((inner, inner.objects, 0)) }
            }
            return false
        }
        return loaded.filter { object in
            if owners.contains(ObjectIdentifier(object)) { return false }
            guard let group = object.extras?.prefetched else { return true }
            return !(retainsOwner[ObjectIdentifier(group)] ?? search(group))
        }
    }
}
