internal import PolystoreStorage

/// Prefetching of relationships: one lookup for all objects of a fetch instead of one for each object.
extension ObjectContext {
    /// The number of keys per lookup.
    private static let chunk = 5000

    /// Loads the destinations of relationships, step by step, and retains them as long as the objects live, unless they retain one of those.
    package func prefetch(_ paths: [PropertyPath], of objects: [ManagedObject]) throws(StorageError) {
        if objects.isEmpty || paths.isEmpty { return }
        let plan = PrefetchPlan(paths), loaded = try prefetch(plan, of: objects)
        keep(plan, PrefetchedObjects.retainable(loaded, by: objects), for: objects)
    }

    /// Loads the relationships of a plan, and returns all destinations.
    private func prefetch(_ plan: PrefetchPlan, of objects: [ManagedObject]) throws(StorageError) -> [ManagedObject] {
        var loaded: [ManagedObject] = []
        for step in plan.steps {
            let destinations = try prefetch(step.name, of: objects)
            loaded += destinations
            loaded += try prefetch(step.rest, of: destinations)
            inherit(step.rest, destinations)
        }
        return loaded
    }

    /// Marks the relationships of a plan as prefetched for destinations of a relationship, with strict loading.
    func inherit(_ plan: PrefetchPlan, _ destinations: [ManagedObject]) {
        if !isStrict || plan.steps.isEmpty { return }
        keep(plan, nil, for: destinations.filter { $0.extras?.prefetched?.plan.contains(plan) != true })
    }

    /// Marks the relationships of a plan as prefetched for objects.
    ///
    /// - Parameter loaded: The objects to retain; nil for those that are already retained.
    private func keep(_ plan: PrefetchPlan, _ loaded: [ManagedObject]?, for objects: [ManagedObject]) {
        var last: (former: PrefetchedObjects?, made: PrefetchedObjects)?
        for object in objects {
            let former = object.extras?.prefetched
            if last == nil || last?.former !== former {
                let joined = isStrict ? (former?.plan ?? PrefetchPlan()).joined(with: plan) : PrefetchPlan()
                last = (
                    former,
                    loaded.map { PrefetchedObjects(former, plan, $0, planned: joined) } ?? PrefetchedObjects(former, planned: joined)
                )
            }
            object.madeExtras().prefetched = last?.made
        }
    }

    /// Returns whether a relationship may be loaded: strict loading refuses one that was neither prefetched nor assigned here.
    func isPlanned(_ object: ManagedObject, _ name: String) -> Bool {
        !isStrict || object.isCreatedHere || object.extras?.prefetched?.plan.rest(name) != nil
    }

    /// Passes the rest of the prefetched paths to destinations of a relationship, which may have been loaded since.
    func passPlan(of object: ManagedObject, _ name: String, to destinations: [ManagedObject]) {
        if isStrict, let rest = object.extras?.prefetched?.plan.rest(name) { inherit(rest, destinations) }
    }

    /// Marks a to-many relationship whose members were assigned as prefetched, with strict loading.
    func planAssigned(_ object: ManagedObject, _ name: String) {
        guard !isPlanned(object, name), let position = object.description.relationshipIndex(name) else { return }
        // Otherwise the assignment was refused.
        if object._collections[position] != nil { inherit(PrefetchPlan([PropertyPath([name])]), [object]) }
    }

    /// Performs one step: returns the destinations of a relationship of all these objects.
    private func prefetch(_ name: String, of objects: [ManagedObject]) throws(StorageError) -> [ManagedObject] {
        struct Place: Hashable {
            let store: Int32
            let entity: Int16
        }
        var result: [ManagedObject] = [], seen: Set<ObjectIdentifier> = []
        let groups = Dictionary(grouping: objects.filter { seen.insert(ObjectIdentifier($0)).inserted }) {
            Place(store: $0._store, entity: $0._entity)
        }
        for (place, owners) in groups {
            let description = model.schema[Int(place.entity)]
            guard let position = description.relationshipIndex(name) else {
                throw StorageError(
                    .invalidPredicate,
                    "\(description.name) has no relationship \"\(name)\" to prefetch"
                        + Suggestion.nearest(name, in: description.relationships.map(\.relationship.name)))
            }
            result += try prefetch(description.relationships[position], position, of: owners, Int(place.store))
        }
        return result
    }

    private func prefetch(
        _ relationship: RelationshipDescription, _ position: Int, of owners: [ManagedObject], _ store: Int
    ) throws(StorageError) -> [ManagedObject] {
        switch relationship.place {
        case .slot(let slot):
            var seen: Set<Int64> = []
            let keys = owners.compactMap { $0._reference(slot) }.filter { seen.insert($0).inserted }
            return try chunks(keys) { keys throws(StorageError) in try objects(relationship.destination, keys, store) }
        case .inverseSlot(let slot):
            let wanted = owners.filter { $0._collections[position] == nil }
            let members = try chunks(wanted.map(\._key)) { keys throws(StorageError) in
                try self.members(relationship.destination, slot, keys, store)
            }
            let byOwner = Dictionary(grouping: members, by: \.owner)
            for owner in wanted { owner._collections[position] = ToManyState(keys: byOwner[owner._key]?.map(\.object._key) ?? []) }
            if wanted.count == owners.count { return members.map(\.object) }
            // The members of some owners were already known, for example from another path that begins with the same name.
            return try chunks(keys(of: owners, position)) { keys throws(StorageError) in
                try objects(relationship.destination, keys, store)
            }
        case .link(let link, let side):
            let isOrdered = side == .owner && model.schema.links[link].isOrdered
            return try linked(owners, position, link, side, isOrdered: isOrdered, relationship.destination, store)
        case .orderedInverseSlot(_, let link):
            return try linked(owners, position, link, .owner, isOrdered: true, relationship.destination, store)
        }
    }

    /// Returns the objects whose to-one relationship references one of the given keys, each with that key: the present one of an object with
    /// pending changes, and otherwise the one in the store, which the object in memory lacks if another transaction has changed it.
    func members(
        _ destination: EntityIndex, _ slot: Int, _ owners: [Int64], _ store: Int
    ) throws(StorageError) -> [(object: ManagedObject, owner: Int64)] {
        let description = model.schema[destination]
        let path = CheckedPath(steps: [], entity: destination, leaf: .slot(slot), type: .int64, text: description.slots[slot].name)
        var plan = FetchPlan(model.schema, destination, where: .isIn(.path(path), owners.sorted().map(Value.int)))
        if hasDetachedChanges {
            plan.sort = [CheckedSort(path, ascending: true)]
            return try PendingFetch.places(plan, [store], self).compactMap { object, keys in
                if case .int(let owner) = keys[0] { (object, owner) } else { nil }
            }
        }
        var references: [Int64] = []
        let found = try withReader(store) { reader throws(StorageError) in
            try storedObjects(for: plan, store: store, reader) { references.append($0[slot].int) }
        }
        return Array(zip(found, references))
    }

    private func linked(
        _ owners: [ManagedObject], _ position: Int, _ link: Int, _ side: LinkSide, isOrdered: Bool, _ destination: EntityIndex, _ store: Int
    ) throws(StorageError) -> [ManagedObject] {
        let wanted = owners.filter { $0._collections[position] == nil }
        try loadPairs(wanted, position, link, side, isOrdered: isOrdered, store)
        return try chunks(keys(of: owners, position)) { keys throws(StorageError) in try objects(destination, keys, store) }
    }

    /// Returns the known destination keys of a to-many relationship of objects, without duplicates.
    private func keys(of owners: [ManagedObject], _ position: Int) -> [Int64] {
        var seen: Set<Int64> = []
        return owners.flatMap { $0._collections[position]?.keys ?? [] }.filter { seen.insert($0).inserted }
    }

    /// Loads the destination keys of a relationship of objects from its link table.
    func loadPairs(
        _ wanted: [ManagedObject], _ position: Int, _ link: Int, _ side: LinkSide, isOrdered: Bool, _ store: Int
    ) throws(StorageError) {
        var stored: [Int64: [LinkPair]] = [:]
        for start in stride(from: 0, to: wanted.count, by: Self.chunk) {
            let chunk = wanted[start..<min(start + Self.chunk, wanted.count)].map(\._key)
            try withReader(store) { reader throws(StorageError) in
                try reader.links(link, side: side, keys: chunk) { pairs throws(StorageError) in
                    for pair in pairs { stored[side == .owner ? pair.owner : pair.member, default: []].append(pair) }
                }
            }
        }
        for owner in wanted {
            owner._collections[position] = ToManyState(merged(stored[owner._key] ?? [], owner, link, side), side, isOrdered: isOrdered)
        }
    }

    private func chunks<R>(_ keys: [Int64], _ load: ([Int64]) throws(StorageError) -> [R]) throws(StorageError) -> [R] {
        var result: [R] = [], start = 0
        while start < keys.count {
            result += try load(Array(keys[start..<min(start + Self.chunk, keys.count)]))
            start += Self.chunk
        }
        return result
    }
}
