internal import PolystoreStorage

/// The deletion of objects with everything that their delete rules reach: first found out as a whole, then done.
struct Deletion {
    private let context: ObjectContext
    private var doomed: [ManagedObject] = []
    private var seen: Set<ObjectIdentifier> = []

    init(_ context: ObjectContext) { self.context = context }

    /// Deletes objects and what cascades from them.
    mutating func delete(_ objects: [ManagedObject]) throws(StorageError) -> Int {
        for object in objects { add(object) }
        // Grows while it is walked: what a cascade reaches is walked too, without recursion.
        var next = 0
        while next < doomed.count {
            try cascade(from: doomed[next])
            next += 1
        }
        try checkDenials()
        for object in doomed { try unlink(object) }
        for object in doomed { kill(object) }
        return doomed.count
    }

    private mutating func add(_ object: ManagedObject) {
        if !object.isDeletedObject, seen.insert(ObjectIdentifier(object)).inserted { doomed.append(object) }
    }

    private mutating func cascade(from object: ManagedObject) throws(StorageError) {
        for relationship in object.description.relationships where relationship.relationship.deleteRule == .cascade {
            for target in try targets(object, relationship) { add(target) }
        }
    }

    private func checkDenials() throws(StorageError) {
        var blocking: [Int64] = [], names: [String] = []
        for object in doomed {
            for relationship in object.description.relationships where relationship.relationship.deleteRule == .deny {
                let alive = try targets(object, relationship).filter { !seen.contains(ObjectIdentifier($0)) }
                if alive.isEmpty { continue }
                blocking += alive.map(\._key)
                names.append("\(object.description.name).\(relationship.relationship.name)")
            }
        }
        guard let first = names.first else { return }
        throw StorageError(
            .deleteDenied, "\(first) still refers to \(blocking.count) object\(blocking.count == 1 ? "" : "s"); nothing was deleted",
            details: .init(keys: blocking, failures: names))
    }

    private func targets(_ object: ManagedObject, _ relationship: RelationshipDescription) throws(StorageError) -> [ManagedObject] {
        let targets: [ManagedObject]
        if case .slot(let slot) = relationship.place {
            guard let key = object._reference(slot) else { return [] }
            targets = try context.object(relationship.destination, key, Int(object._store)).map { [$0] } ?? []
        } else {
            targets = context.members(object, relationship.relationship.name)
        }
        try context.throwFailure()
        return targets
    }

    /// Ends the relationships of an object with those that stay.
    private func unlink(_ object: ManagedObject) throws(StorageError) {
        for relationship in object.description.relationships {
            switch relationship.place {
            case .slot(let slot):
                if object._reference(slot) != nil { context.relate(object, slot, to: nil) }
            case .inverseSlot, .orderedInverseSlot, .link:
                context.setMembers(object, relationship.relationship.name, [])
            }
        }
        try unlinkOneSided(object)
        try context.throwFailure()
    }

    /// Removes the pairs of link tables whose other end has no relationship back.
    private func unlinkOneSided(_ object: ManagedObject) throws(StorageError) {
        let store = Int(object._store)
        for (link, description) in context.model.schema.links.enumerated()
        where description.memberRelationship == nil && context.model.schema[description.member].family.contains(Int(object._entity)) {
            try context.flush()
            // Pairs that are not in the store yet go as well.
            let key = ChangeTracker.LinkKey(link: link, store: store)
            for pair in context.tracker?.links[key]?.keys.filter({ $0.member == object._key }) ?? [] {
                context.tracker?.unlink(link, store, owner: pair.owner, member: pair.member)
            }
            try context.withReader(store) { reader throws(StorageError) in
                try reader.links(link, side: .member, keys: [object._key]) { pairs throws(StorageError) in
                    for pair in pairs { context.tracker?.unlink(link, store, owner: pair.owner, member: pair.member) }
                }
            }
        }
    }

    private func kill(_ object: ManagedObject) {
        object._flags |= ManagedObject.Flags.deleted
        context.tracker?.deleted.append(object)
    }
}
