internal import PolystoreStorage

extension ObjectContext {
    /// Returns the destinations of a to-many relationship. The error of a failed load is recorded, and the result is empty.
    func members(_ object: ManagedObject, _ name: String) -> [ManagedObject] {
        guard let position = relationshipPosition(object, name), isReadable(object, position) else { return [] }
        let members = readMembers(object, position)
        passPlan(of: object, name, to: members)
        return members
    }

    /// Whether a to-many relationship may be accessed: strict loading refuses one that is neither known nor planned.
    private func isReadable(_ object: ManagedObject, _ position: Int) -> Bool {
        if !isStrict || object._collections[position] != nil { return true }
        let name = object.description.relationships[position].relationship.name
        if isPlanned(object, name) { return true }
        let error = unplanned(object, name)
        didFailToLoad(object, name, error)
        fail(error)
        return false
    }

    /// Whether the members of an object are exactly those added since its creation.
    private func knowsMembers(of object: ManagedObject) -> Bool { object.isNew && tracker?.knowsMembersOfNewObjects != false }

    /// Returns the destinations of a to-many relationship, and loads them if they are not known yet.
    func knownMembers(_ object: ManagedObject, _ position: Int) -> [ManagedObject] { loadMembers(object, position) ?? [] }

    private func loadMembers(_ object: ManagedObject, _ position: Int) -> [ManagedObject]? {
        let relationship = object.description.relationships[position]
        return attempt(object, relationship.relationship.name) { () throws(StorageError) in
            let state = try state(object, position)
            let members = try objects(relationship.destination, state.keys, Int(object._store))
            didLoad(object, relationship.relationship.name)
            return members
        }
    }

    /// Returns the destinations of a to-many relationship, and loads them if they are not known yet. The members of an object whose row was
    /// deleted are an error, and not an empty list.
    private func readMembers(_ object: ManagedObject, _ position: Int) -> [ManagedObject] {
        let isKnown = object._collections[position] != nil
        guard let members = loadMembers(object, position) else { return [] }
        if members.isEmpty, !isKnown { checkExistence(object, object.description.relationships[position].relationship.name) }
        return members
    }

    /// Returns the destinations of a to-many relationship as their class. The model guarantees the class, so that they are not checked
    /// individually.
    func typedMembers<T: ManagedObject>(_ object: ManagedObject, _ name: String, _ type: T.Type) -> [T] {
        let members = members(object, name)
        guard let first = members.first else { return [] }
        let position = relationshipPosition(object, name) ?? 0
        let declared = model.types[object.description.relationships[position].destination]
        if first is T, declared == T.self { return unsafeBitCast(members, to: [T].self) }
        return members.compactMap { $0 as? T }
    }

    private func relationshipPosition(_ object: ManagedObject, _ name: String) -> Int? {
        object.description.relationshipIndex(name)
    }

    /// Returns the keys of a to-many relationship, and loads them if they are not known yet.
    package func state(_ object: ManagedObject, _ position: Int) throws(StorageError) -> ToManyState {
        if let known = object._collections[position] { return known }
        // A new object has no members before some are added: nothing in the store can reference its key.
        let loaded = knowsMembers(of: object) ? ToManyState(keys: []) : try load(object, object.description.relationships[position])
        // With strict loading, only what was prefetched is loaded.
        if tracker != nil || sessions != nil || object.isNew || isStrict { object._collections[position] = loaded }
        return loaded
    }

    private func load(_ object: ManagedObject, _ relationship: RelationshipDescription) throws(StorageError) -> ToManyState {
        let shape = RequestShape(object.description.name, relationship.relationship.name)
        return try measured(.relationship, shape, rows: \.keys.count) { () throws(StorageError) in try members(object, relationship) }
    }

    private func members(_ object: ManagedObject, _ relationship: RelationshipDescription) throws(StorageError) -> ToManyState {
        try withPending { () throws(StorageError) in
            try withReader(Int(object._store)) { reader throws(StorageError) in
                switch relationship.place {
                case .slot(let slot): return ToManyState(keys: object._reference(slot).map { [$0] } ?? [])
                case .inverseSlot(let slot): return ToManyState(keys: try memberKeys(object, relationship.destination, slot, reader))
                case .link(let link, let side):
                    let isOrdered = side == .owner && model.schema.links[link].isOrdered
                    return ToManyState(try pairs(object, link, side, reader), side, isOrdered: isOrdered)
                case .orderedInverseSlot(_, let link):
                    return ToManyState(try pairs(object, link, .owner, reader), .owner, isOrdered: true)
                }
            }
        }
    }

    /// Returns the pairs of an object in a link table, in order, including the changes that are only in memory.
    private func pairs(
        _ object: ManagedObject, _ link: Int, _ side: LinkSide, _ reader: ReadSession
    ) throws(StorageError) -> [LinkPair] {
        var found: [LinkPair] = []
        try reader.links(link, side: side, keys: [object._key]) { pairs throws(StorageError) in found += pairs }
        return merged(found, object, link, side)
    }

    /// Returns the stored pairs of an object, merged with the changes that are only in memory.
    func merged(_ stored: [LinkPair], _ object: ManagedObject, _ link: Int, _ side: LinkSide) -> [LinkPair] {
        let key = ChangeTracker.LinkKey(link: link, store: Int(object._store))
        guard mergesPending, let tracker else { return stored }
        func isOurs(_ pair: ChangeTracker.Pair) -> Bool { (side == .owner ? pair.owner : pair.member) == object._key }
        if side == .owner { tracker.rebase(object._key, key, stored) }
        guard let changes = tracker.links[key] else { return stored }
        var found: [LinkPair] = []
        for link in stored {
            let pair = ChangeTracker.Pair(owner: link.owner, member: link.member)
            guard let rank = changes[pair] else {
                found.append(link)
                continue
            }
            // If another transaction has added the same pair, its removal here must remove it from the store.
            if rank != nil { tracker.keepStored(pair, key) }
        }
        for (pair, rank) in changes where isOurs(pair) {
            if let rank { found.append(LinkPair(owner: pair.owner, rank: rank, member: pair.member)) }
        }
        return found.sorted { ($0.rank, $0.owner, $0.member) < ($1.rank, $1.owner, $1.member) }
    }

    private func memberKeys(
        _ object: ManagedObject, _ destination: EntityIndex, _ slot: Int, _ reader: ReadSession
    ) throws(StorageError) -> [Int64] {
        let description = model.schema[destination]
        let path = CheckedPath(steps: [], entity: destination, leaf: .slot(slot), type: .int64, text: description.slots[slot].name)
        let plan = FetchPlan(model.schema, destination, where: .compare(path, .equal, .int(object._key)))
        // Whole rows are read, not only keys, because the members are usually read next.
        return try objects(for: plan, store: Int(object._store), reader).map(\._key)
    }

    /// Sets the destinations of a to-many relationship to exactly these objects.
    ///
    /// - Returns: Whether the assignment was not refused. A refused one has changed nothing.
    @discardableResult
    func setMembers(_ object: ManagedObject, _ name: String, _ members: [ManagedObject]) -> Bool {
        guard let position = relationshipPosition(object, name) else { return false }
        let relationship = object.description.relationships[position]
        guard canAssign(object) else {
            refuseAssignment(object, name)
            return false
        }
        guard hasRelationships(object, name), !refusesUnread(object, name) else { return false }
        let label = "\(object.description.name).\(name)"
        for member in members where !accepts(member, for: object, named: label, relationship.destination) { return false }
        guard let old = attempt({ () throws(StorageError) in try state(object, position) }) else { return false }
        if model.hasCounts { tracker?.recount(object, position) }
        var seen: Set<Int64> = []
        let new = members.filter { seen.insert($0._key).inserted }
        let removed = old.keys.filter { !seen.contains($0) }
        switch relationship.place {
        case .slot: break
        case .inverseSlot(let slot), .orderedInverseSlot(let slot, _):
            detach(removed, relationship.destination, slot, from: object, position)
            let present = Set(old.keys)
            for member in new where !present.contains(member._key) { relate(member, slot, to: object, isMember: false) }
        case .link(let link, let side):
            let present = Set(old.keys)
            relink(object, link, side, removed: removed, added: new.filter { !present.contains($0._key) })
        }
        if case .orderedInverseSlot(_, let link) = relationship.place { reorder(object, position, link, new.map(\._key)) }
        if case .link(let link, side: .owner) = relationship.place, model.schema.links[link].isOrdered {
            reorder(object, position, link, new.map(\._key))
        } else if case .link = relationship.place {
            object._collections[position] = ToManyState(keys: new.map(\._key))
        }
        return true
    }

    /// Adds or removes one member of an unordered to-many relationship, in a number of steps that does not depend on the number of members.
    ///
    /// - Returns: Whether there was anything to do; nil if the property is not such a stored relationship.
    func setMember(_ member: ManagedObject, of object: ManagedObject, _ name: String, to isMember: Bool) -> Bool? {
        guard let position = relationshipPosition(object, name) else { return nil }
        let relationship = object.description.relationships[position]
        if isProbe || relationship.relationship.cardinality != .toMany { return nil }
        guard canAssign(object) else {
            refuseAssignment(object, name)
            return false
        }
        guard hasRelationships(object, name) else { return false }
        let label = "\(object.description.name).\(name)"
        guard accepts(member, for: object, named: label, relationship.destination), isReadable(object, position),
            attempt({ () throws(StorageError) in _ = try state(object, position) }) != nil,
            object._collections[position]?.contains(member._key) == !isMember
        else { return false }
        if model.hasCounts { tracker?.recount(object, position) }
        switch relationship.place {
        case .slot: break
        case .inverseSlot(let slot), .orderedInverseSlot(let slot, _):
            if isMember { relate(member, slot, to: object, isMember: false) } else { leave(member, slot, object, position) }
        case .link(let link, let side):
            relink(object, link, side, removed: isMember ? [] : [member._key], added: isMember ? [member] : [])
            if isMember { object._collections[position]?.append(member._key) } else { object._collections[position]?.remove(member._key) }
        }
        return true
    }

    private func detach(_ keys: [Int64], _ destination: EntityIndex, _ slot: Int, from owner: ManagedObject, _ position: Int) {
        for key in keys {
            if let member = attempt({ () throws(StorageError) in try self.object(destination, key, Int(owner._store)) }) ?? nil {
                leave(member, slot, owner, position)
            }
        }
    }

    /// Sets the reference of a member to nil because its owner has removed it. A member that another transaction has given to another owner,
    /// since the list was read, stays with that.
    private func leave(_ member: ManagedObject, _ slot: Int, _ owner: ManagedObject, _ position: Int) {
        if !refers(member, slot, to: owner) {
            owner._collections[position]?.remove(member._key)
            return
        }
        let place = ChangeTracker.ClearedReference(member, slot)
        willImply(member, slot)
        let isImplied = tracker?.implied.contains(place) == true
        relate(member, slot, to: nil)
        if isImplied { tracker?.implied.insert(place) }
    }

    private func relink(
        _ object: ManagedObject, _ link: Int, _ side: LinkSide, removed: [Int64], added: [ManagedObject]
    ) {
        let description = model.schema.links[link]
        let inverse = side == .owner ? description.memberRelationship : description.ownerRelationship
        let destination = side == .owner ? description.member : description.owner
        let store = Int(object._store)
        for key in removed {
            unlink(link, store, owner: side == .owner ? object._key : key, member: side == .owner ? key : object._key)
            if let inverse, let member = identityMap(destination, store).find(key) { forgetMember(object, of: member, inverse) }
            recount(inverse, of: key, destination, store)
        }
        let position = inverse.flatMap(model.schema[destination].relationshipIndex)
        if side == .member, description.isOrdered, let position {
            insert(object, into: added, position, link)
        } else {
            for member in added {
                let (owner, other) = side == .owner ? (object, member) : (member, object)
                tracker?.link(link, store, LinkPair(owner: owner._key, member: other._key))
                if let position { add(object._key, to: member, position) }
            }
        }
        for member in added { recount(inverse, of: member._key, destination, store) }
    }

    /// Removes a pair of a link table. A pair with an end that is not in the store yet was never stored, and is only removed from the
    /// pending changes.
    func unlink(_ link: Int, _ store: Int, owner: Int64, member: Int64) {
        let description = model.schema.links[link]
        let isPending =
            identityMap(description.owner, store).find(owner)?.isNew == true
            || identityMap(description.member, store).find(member)?.isNew == true
        tracker?.unlink(link, store, owner: owner, member: member, isPending: isPending)
    }

    /// Adds an object at the end of an ordered to-many relationship of each owner. One lookup determines all ends.
    private func insert(_ object: ManagedObject, into owners: [ManagedObject], _ position: Int, _ link: Int) {
        let unknown = owners.filter { $0._collections[position] == nil && !knowsMembers(of: $0) }
        do throws(StorageError) {
            if !unknown.isEmpty {
                try withPending { () throws(StorageError) in
                    try loadPairs(unknown, position, link, .owner, isOrdered: true, Int(object._store))
                }
            }
            for owner in owners { append(object, to: owner, position, link) }
        } catch {
            fail(error)
        }
    }

    func recount(_ relationship: String?, of key: Int64, _ entity: EntityIndex, _ store: Int) {
        guard model.hasCounts, let position = relationship.flatMap(model.schema[entity].relationshipIndex) else { return }
        tracker?.recount(store, model.schema[entity].root, key, position)
    }

    private func forgetMember(_ object: ManagedObject, of member: ManagedObject, _ inverse: String) {
        if let position = relationshipPosition(member, inverse) { member._collections[position]?.remove(object._key) }
    }

    /// Adds a member at the end of an ordered to-many relationship.
    func append(_ member: ManagedObject, to owner: ManagedObject, _ position: Int, _ link: Int) {
        // Changed in place: a copy per member would take a number of steps proportional to the number of members.
        guard attempt({ () throws(StorageError) in _ = try state(owner, position) }) != nil else { return }
        willMoveMembers(of: owner, position, link)
        owner._collections[position]?.remove(member._key)
        guard let rank = owner._collections[position]?.nextRank else {
            let keys = owner._collections[position]?.keys ?? []
            return reorder(owner, position, link, keys + [member._key])
        }
        owner._collections[position]?.append(member._key, rank: rank)
        let table = ChangeTracker.LinkKey(link: link, store: Int(owner._store))
        tracker?.lists[table]?[owner._key]?.placed.insert(member._key)
        tracker?.link(link, table.store, LinkPair(owner: owner._key, rank: rank, member: member._key))
    }

    /// Records an ordered to-many relationship before its first change, if another transaction may change it before the commit.
    private func willMoveMembers(of owner: ManagedObject, _ position: Int, _ link: Int) {
        let table = ChangeTracker.LinkKey(link: link, store: Int(owner._store))
        if sessions != nil || owner.isNew || tracker?.lists[table]?[owner._key] != nil { return }
        tracker?.lists[table, default: [:]][owner._key] = owner._collections[position].map { ListMerge.Origin(base: $0) }
    }

    /// Assigns ascending ranks to the members of an ordered to-many relationship and changes as few as possible.
    private func reorder(_ object: ManagedObject, _ position: Int, _ link: Int, _ keys: [Int64]) {
        let old = object._collections[position] ?? ToManyState(keys: [])
        let known = Dictionary(zip(old.keys, old.ranks), uniquingKeysWith: { first, _ in first })
        let places = Dictionary(zip(old.keys, 0..<Int64(old.keys.count)), uniquingKeysWith: { first, _ in first })
        // By places, because ranks can be equal.
        let isKept = Rank.longestAscending(keys.map { places[$0] })
        let ranks = Rank.assign(zip(keys, isKept).map { $1 ? known[$0] : nil })
        willMoveMembers(of: object, position, link)
        let table = ChangeTracker.LinkKey(link: link, store: Int(object._store))
        for (index, (key, rank)) in zip(keys, ranks).enumerated() where known[key] != rank {
            let pair = LinkPair(owner: object._key, rank: rank, member: key)
            if !isKept[index] { tracker?.lists[table]?[object._key]?.placed.insert(key) }
            if known[key] == nil { tracker?.link(link, table.store, pair) } else { tracker?.rerank(link, table.store, pair) }
        }
        object._collections[position] = ToManyState(keys: keys, ranks: ranks)
    }
}
