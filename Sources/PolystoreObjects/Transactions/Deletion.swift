internal import PolystoreStorage

/// The deletion of objects together with everything that their delete rules affect. All effects are determined first and applied
/// afterwards.
struct Deletion {
    private let context: ObjectContext
    private var doomed: [ManagedObject] = []
    private var seen: Set<ObjectIdentifier> = []
    /// The remaining objects, with the slot of a reference that becomes nil.
    private var referrers: [(object: ManagedObject, slot: Int)] = []
    /// Objects whose own reference denies their deletion, with its destination.
    private var kept: [(object: ManagedObject, slot: Int, target: ManagedObject)] = []
    /// Objects whose reference must keep its destination.
    private var guards: [(object: ManagedObject, slot: Int)] = []
    /// The objects at the other ends of removed relationships, retained until the removal is complete.
    private var partners: [ManagedObject] = []
    /// The remaining objects, with the slot of a to-one relationship without inverse whose destination is deleted.
    private var oneSided: [(object: ManagedObject, slot: Int, target: ManagedObject)] = []
    /// The stored pairs that reference an object through a relationship without inverse.
    private var pairs: [ObjectIdentifier: [(link: Int, pair: LinkPair)]] = [:]

    init(_ context: ObjectContext) { self.context = context }

    /// Deletes objects and the objects reached by cascades.
    ///
    /// All required data is read before anything is changed: an error leaves all objects unchanged. Objects that are deleted already are
    /// accepted.
    mutating func delete(_ objects: [ManagedObject]) throws(StorageError) -> Int {
        for object in objects { add(object) }
        let cleared = try context.throwingFailures(assigns: true) { () throws(StorageError) in try prepare() }
        defer { context.tracker?.deleting = nil }
        // Removing the relationships of one object assigns references of the others.
        if mayBeAbandoned { for object in doomed { context.tracker?.willDelete(object) } }
        for object in doomed {
            note(object)
            unlink(object)
        }
        for (object, slot, target) in cleared {
            note(target)
            context.tracker?.willClear(object, slot)
            object.clear(slot)
        }
        for (object, slot, target) in oneSided {
            note(target)
            context.relate(object, slot, to: nil)
        }
        for object in doomed { kill(object) }
        if mayBeAbandoned, !objects.isEmpty { context.tracker?.deletions.append(objects) }
        return doomed.count
    }

    /// Determines the deleted objects and the references that become nil, and loads all data that is required to apply the deletion.
    private mutating func prepare() throws(StorageError) -> [(object: ManagedObject, slot: Int, target: ManagedObject?)] {
        // The list grows during the iteration: objects reached by a cascade are visited too, without recursion.
        var next = 0
        while next < doomed.count {
            let wave = doomed[next...]
            for object in wave { try cascade(from: object) }
            for attribute in context.model.references { try follow(attribute, from: Array(wave)) }
            next = wave.endIndex
        }
        try checkDenials()
        // New objects come last: loading the others can write them to the stores, with the pairs that reference them.
        for object in doomed.filter({ !$0.isNew }) + doomed.filter(\.isNew) { try load(object) }
        var cleared: [(object: ManagedObject, slot: Int, target: ManagedObject?)] = []
        for (object, slot) in referrers where !seen.contains(ObjectIdentifier(object)) {
            cleared.append((object, slot, try context.referenced(object, slot)))
        }
        try findOneSided()
        // Objects are completed here because the base recorded before a change must contain all values.
        let changed = cleared.map(\.object) + oneSided.map(\.object)
        if context.sessions == nil { for object in doomed + partners + changed { object.complete() } }
        return cleared
    }

    /// Loads the data that is required to remove the relationships of an object.
    private mutating func load(_ object: ManagedObject) throws(StorageError) {
        for (position, relationship) in object.description.relationships.enumerated() {
            if case .link = relationship.place {
                _ = try context.state(object, position)
            } else {
                partners += try targets(object, relationship)
            }
        }
        // Nothing in the stores references an object that was not written yet, so it can be deleted even if it cannot be written.
        if object.isNew { return }
        for link in oneSidedLinks(to: object) {
            // Pairs that remain pending after this are handled when they are removed.
            try context.withPending { () throws(StorageError) in
                try context.withReader(Int(object._store)) { reader throws(StorageError) in
                    try reader.links(link, side: .member, keys: [object._key]) { found throws(StorageError) in
                        pairs[ObjectIdentifier(object), default: []] += found.map { (link, $0) }
                    }
                }
            }
        }
    }

    /// Finds the objects with a to-one relationship without inverse to a deleted object.
    private mutating func findOneSided() throws(StorageError) {
        struct Place: Hashable {
            let store: Int
            let entity: EntityIndex
        }
        let places = Dictionary(grouping: doomed) { Place(store: Int($0._store), entity: Int($0._entity)) }
        for (place, objects) in places.sorted(by: { ($0.key.store, $0.key.entity) < ($1.key.store, $1.key.entity) }) {
            let byKey = Dictionary(objects.map { ($0._key, $0) }) { first, _ in first }, stored = objects.filter { !$0.isNew }.map(\._key)
            for (entity, slot) in context.model.oneSidedSlots(to: place.entity) {
                var found: [ManagedObject] = []
                for start in stride(from: 0, to: stored.count, by: 500) {
                    found += try context.withPending { () throws(StorageError) in
                        try context.members(entity, slot, Array(stored[start..<min(start + 500, stored.count)]), place.store).map(\.object)
                    }
                }
                let family = context.model.schema[entity].family
                if let tracker = context.tracker {
                    found += [tracker.inserted, tracker.changed].joined().filter {
                        Int($0._store) == place.store && family.contains(Int($0._entity)) && !$0.isDeletedObject
                    }
                }
                var known: Set<ObjectIdentifier> = []
                for object in found where !seen.contains(ObjectIdentifier(object)) && known.insert(ObjectIdentifier(object)).inserted {
                    if let target = object._reference(slot).flatMap({ byKey[$0] }) { oneSided.append((object, slot, target)) }
                }
            }
        }
    }

    /// Returns the link tables of relationships without inverse that reference an object.
    private func oneSidedLinks(to object: ManagedObject) -> [Int] { context.model.schema.oneSidedLinks(to: Int(object._entity)) }

    /// Whether a merge policy may abandon the deletion later. Only detached transactions have merge policies.
    private var mayBeAbandoned: Bool { context.sessions == nil }

    /// Records the object whose deletion causes the following changes, if the deletion may be abandoned later.
    private func note(_ object: ManagedObject?) {
        if mayBeAbandoned { context.tracker?.deleting = object.map(ObjectIdentifier.init) }
    }

    private mutating func add(_ object: ManagedObject) {
        if !object.isDeletedObject, seen.insert(ObjectIdentifier(object)).inserted { doomed.append(object) }
    }

    private mutating func cascade(from object: ManagedObject) throws(StorageError) {
        for relationship in object.description.relationships where relationship.relationship.deleteRule == .cascade {
            for target in try targets(object, relationship) { add(target) }
        }
    }

    /// Follows references to and from other stores.
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

    /// Removes the relationships between an object and the remaining objects.
    private func unlink(_ object: ManagedObject) {
        for relationship in object.description.relationships {
            switch relationship.place {
            case .slot(let slot):
                if object._reference(slot) != nil { context.relate(object, slot, to: nil) }
            case .inverseSlot, .orderedInverseSlot, .link:
                context.setMembers(object, relationship.relationship.name, [])
            }
        }
        unlinkOneSided(object)
    }

    /// Removes the pairs of link tables that reference an object through a relationship without inverse.
    private func unlinkOneSided(_ object: ManagedObject) {
        let store = Int(object._store)
        for link in oneSidedLinks(to: object) {
            // Pairs that are not written yet are removed too.
            let key = ChangeTracker.LinkKey(link: link, store: store)
            for pair in context.tracker?.links[key]?.keys.filter({ $0.member == object._key }) ?? [] {
                unlinkOneSided(link, store, owner: pair.owner, member: pair.member)
            }
        }
        for (link, pair) in pairs[ObjectIdentifier(object)] ?? [] { unlinkOneSided(link, store, owner: pair.owner, member: pair.member) }
    }

    /// Removes a pair of a relationship without inverse, also from the members of its owner if they are known.
    private func unlinkOneSided(_ link: Int, _ store: Int, owner key: Int64, member: Int64) {
        let description = context.model.schema.links[link]
        context.unlink(link, store, owner: key, member: member)
        if let owner = context.identityMap(description.owner, store).find(key),
            let position = owner.description.relationshipIndex(description.ownerRelationship)
        {
            owner._collections[position]?.remove(member)
        }
        context.recount(description.ownerRelationship, of: key, description.owner, store)
    }

    private func kill(_ object: ManagedObject) {
        object._flags |= ManagedObject.Flags.deleted
        object._dirty = 0
        context.tracker?.deleted.append(object)
    }
}
