internal import PolystoreStorage

extension ObjectContext {
    /// Returns the error of strict loading for a relationship, which recommends a path that the class of the request has.
    func unplanned(_ object: ManagedObject, _ name: String) -> StorageError {
        let route = route(to: object), entity = object.description.name
        var call = ".prefetch(\\.\(name))"
        for step in route.steps.reversed() {
            if step.cardinality == .toOne {
                call = ".prefetch(\\.\(step.name)?." + call.dropFirst(".prefetch(\\.".count)
            } else {
                call = ".prefetch(\\.\(step.name)) { $0\(call) }"
            }
        }
        let request = route.root.description.name
        return StorageError(
            .unplannedLoad,
            "\(entity).\(name) was not prefetched; fetch \(request) with \(call), or allow lazy loading with relationships = .lazy",
            details: .init(entity: entity, property: name, keys: [object._key]))
    }

    /// Returns the object of a request and the relationships through which it prefetched another object; none if no living object did.
    private func route(to object: ManagedObject) -> (root: ManagedObject, steps: [Relationship]) {
        var root = object, steps: [Relationship] = [], seen: Set<ObjectIdentifier> = []
        while seen.insert(ObjectIdentifier(root)).inserted, let found = owner(of: root) {
            root = found.owner
            steps.insert(found.relationship, at: 0)
        }
        return (root, steps)
    }

    /// Returns a living object for which a relationship to an object was prefetched.
    private func owner(of object: ManagedObject) -> (owner: ManagedObject, relationship: Relationship)? {
        for place in livePlaces where place.store == Int(object._store) {
            for owner in place.map.objects {
                guard let plan = owner.extras?.prefetched?.plan else { continue }
                for (position, item) in owner.description.relationships.enumerated()
                where plan.rest(item.relationship.name) != nil && model.schema[item.destination].root == object.description.root {
                    let isMember: Bool
                    if case .slot(let slot) = item.place {
                        isMember = owner._reference(slot) == object._key
                    } else {
                        isMember = owner._collections[position]?.keys.contains(object._key) == true
                    }
                    if isMember { return (owner, item.relationship) }
                }
            }
        }
        return nil
    }
}
