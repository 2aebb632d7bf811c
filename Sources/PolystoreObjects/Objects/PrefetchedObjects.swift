/// The objects that a fetch has prefetched for others, and its plan. Those with equal plans share it.
///
/// The objects live as long as one of the objects of the fetch. They do not retain that, neither through this container nor through those of
/// other fetches, so that there is no reference cycle.
final class PrefetchedObjects {
    let objects: [ManagedObject]
    /// The relationships that strict loading loads again when they are not known; none with lazy loading.
    let plan: PrefetchPlan

    init(_ objects: [ManagedObject], _ plan: PrefetchPlan) {
        self.objects = objects
        self.plan = plan
    }

    /// Returns those of prefetched objects that owners can retain: objects that retain an owner, through earlier fetches, would form a cycle
    /// with it. A number of steps proportional to the number of objects that those retain.
    static func retainable(_ loaded: [ManagedObject], by owners: [ManagedObject]) -> [ManagedObject] {
        let owners = Set(owners.map(ObjectIdentifier.init))
        var retainsOwner: [ObjectIdentifier: Bool] = [:]
        /// A depth-first search without recursion, because chains of fetches have any length.
        func search(_ first: PrefetchedObjects) -> Bool {
            var path = [(group: first, next: 0)]
            while let (group, next) = path.last {
                guard next < group.objects.count else {
                    retainsOwner[ObjectIdentifier(group)] = false
                    path.removeLast()
                    continue
                }
                path[path.count - 1].next += 1
                let object = group.objects[next], inner = object.extras?.prefetched
                if owners.contains(ObjectIdentifier(object)) || inner.flatMap({ retainsOwner[ObjectIdentifier($0)] }) == true {
                    for (group, _) in path { retainsOwner[ObjectIdentifier(group)] = true }
                    return true
                }
                if let inner, retainsOwner[ObjectIdentifier(inner)] == nil { path.append((inner, 0)) }
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
