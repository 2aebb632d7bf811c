internal import PolystoreStorage

/// The deletion of objects with everything that their delete rules reach: first found out as a whole, then done.
struct Deletion {
    private let context: ObjectContext
    private var doomed: [ManagedObject] = []
    private var seen: Set<ObjectIdentifier> = []
    /// The objects that stay with the slot of a reference that becomes nil.
    private var referrers: [(object: ManagedObject, slot: Int)] = []
    /// Objects whose own reference forbids their deletion, with what it leads to.
    private var kept: [(object: ManagedObject, slot: Int, target: ManagedObject)] = []
    /// Objects whose reference must not lose its destination.
    private var guards: [(object: ManagedObject, slot: Int)] = []

    init(_ context: ObjectContext) { self.context = context }

    /// Deletes objects and what cascades from them.
    mutating func delete(_ objects: [ManagedObject]) throws(StorageError) -> Int {
        for object in objects { add(object) }
        // Grows while it is walked: what a cascade reaches is walked too, without recursion.
        var next = 0
        while next < doomed.count {
            let wave = doomed[next...]
            for object in wave { try cascade(from: object) }
            for attribute in context.model.references { try follow(attribute, from: Array(wave)) }
            next = wave.endIndex
        }
        try checkDenials()
        defer { context.tracker?.deleting = nil }
        for object in doomed {
            note(object)
            context.tracker?.clearings[ObjectIdentifier(object)] = nil
            try unlink(object)
        }
        for (object, slot) in referrers where !seen.contains(ObjectIdentifier(object)) {
            note(try context.referenced(object, slot))
            context.tracker?.willClear(object, slot)
            object.clear(slot)
        }
        for object in doomed { kill(object) }
        return doomed.count
    }

    /// Notes whose deletion changes others from here on, where it may be given up: only detached work has merge policies.
    private func note(_ object: ManagedObject?) {
        if context.sessions == nil { context.tracker?.deleting = object.map(ObjectIdentifier.init) }
    }

    private mutating func add(_ object: ManagedObject) {
        if !object.isDeletedObject, seen.insert(ObjectIdentifier(object)).inserted { doomed.append(object) }
    }

    private mutating func cascade(from object: ManagedObject) throws(StorageError) {
        for relationship in object.description.relationships where relationship.relationship.deleteRule == .cascade {
            for target in try targets(object, relationship) { add(target) }
        }
    }

    /// Follows references into other stores, in both directions.
    private mutating func follow(_ attribute: ReferenceAttribute, from wave: [ManagedObject]) throws(StorageError) {
        let schema = context.model.schema
        if attribute.reference.deleteRule != .nullify {
            for object in wave where schema[attribute.entity].family.contains(Int(object._entity)) {
                guard let target = try context.referenced(object, attribute.slot) else { continue }
                if attribute.reference.deleteRule == .cascade { add(target) } else { kept.append((object, attribute.slot, target)) }
            }
        }
        let targets = wave.filter { schema[attribute.destination].family.contains(Int($0._entity)) }
        for referrer in try context.referrers(attribute, to: targets) {
            switch attribute.reference.inverseDeleteRule {
            case .nullify: referrers.append((referrer, attribute.slot))
            case .cascade: add(referrer)
            case .deny: guards.append((referrer, attribute.slot))
            }
        }
    }

    private func checkDenials() throws(StorageError) {
        var blocking: [ManagedObject] = [], failures: [ValidationFailure] = []
        for (object, slot) in guards where !seen.contains(ObjectIdentifier(object)) {
            blocking.append(object)
            failures.append(denial(object, slot, "still refers to an object that is to be deleted"))
        }
        for (object, slot, target) in kept where !seen.contains(ObjectIdentifier(target)) {
            blocking.append(target)
            failures.append(denial(object, slot, "still refers to 1 object"))
        }
        for object in doomed {
            for relationship in object.description.relationships where relationship.relationship.deleteRule == .deny {
                let alive = try targets(object, relationship).filter { !seen.contains(ObjectIdentifier($0)) }
                if alive.isEmpty { continue }
                blocking += alive
                failures.append(
                    ValidationFailure(
                        entity: object.description.name, property: relationship.relationship.name, key: object._key,
                        "still refers to \(alive.count) object\(alive.count == 1 ? "" : "s")"))
            }
        }
        guard let first = failures.first else { return }
        throw StorageError(
            .deleteDenied, "\(first); nothing was deleted",
            details: .init(entity: first.entity, property: first.property, keys: blocking.map(\._key), failures: failures))
    }

    private func denial(_ object: ManagedObject, _ slot: Int, _ message: String) -> ValidationFailure {
        ValidationFailure(entity: object.description.name, property: object.description.slots[slot].name, key: object._key, message)
    }

    private func targets(_ object: ManagedObject, _ relationship: RelationshipDescription) throws(StorageError) -> [ManagedObject] {
        let targets: [ManagedObject]
        if case .slot(let slot) = relationship.place {
            guard let key = object._reference(slot) else { return [] }
            targets = try context.object(relationship.destination, key, Int(object._store)).map { [$0] } ?? []
        } else {
            targets = object.description.relationshipIndex(relationship.relationship.name).map { context.knownMembers(object, $0) } ?? []
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
                    for pair in pairs {
                        context.tracker?.unlink(link, store, owner: pair.owner, member: pair.member)
                        context.recount(description.ownerRelationship, of: pair.owner, description.owner, store)
                    }
                }
            }
        }
    }

    private func kill(_ object: ManagedObject) {
        object._flags |= ManagedObject.Flags.deleted
        object._dirty = 0
        context.tracker?.deleted.append(object)
    }
}
