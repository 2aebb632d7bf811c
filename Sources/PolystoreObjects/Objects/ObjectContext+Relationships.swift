internal import PolystoreStorage

extension ObjectContext {
    /// Returns the destination of a to-one relationship. The error of a failed load is recorded, and the result is nil.
    func target(_ object: ManagedObject, _ slot: Int, _ key: Int64) -> ManagedObject? {
        guard let destination = object.description.slots[slot].destination else { return nil }
        let target = attempt(object, object.description.slots[slot].name) { () throws(StorageError) in
            if !isStrict {
                let target = try load(object, slot, destination, key)
                didLoad(object, object.description.slots[slot].name)
                return target
            }
            let name = object.description.slots[slot].name, isLoaded = identityMap(destination, Int(object._store)).find(key) != nil
            if !isLoaded, !isPlanned(object, name) { throw unplanned(object, name) }
            let target = try self.object(destination, key, Int(object._store))
            didLoad(object, name)
            passPlan(of: object, name, to: target.map { [$0] } ?? [])
            return target
        }
        // A reference without its destination was removed since, or its object was deleted.
        if case .some(nil) = target { checkExistence(object, object.description.slots[slot].name) }
        return target ?? nil
    }

    /// Records `notFound` if an object that is not in a transaction with a snapshot of its own was deleted by another transaction, so that
    /// its relationships seem to be empty.
    func checkExistence(_ object: ManagedObject, _ name: String) {
        if sessions != nil || snapshots != nil || object.isNew || object.isDeletedObject { return }
        _ = attempt(object, name) { () throws(StorageError) in
            try withReader(Int(object._store)) { reader throws(StorageError) in
                scratch.clear()
                try reader.row(Int(object._entity), key: object._key, into: scratch)
                if scratch.count == 1 { return }
                let entity = object.description.name
                throw StorageError(
                    .notFound, "\(entity) \(object._key) was deleted before its \(name) was read",
                    details: .init(entity: entity, property: name, keys: [object._key]))
            }
        }
    }

    private func load(
        _ object: ManagedObject, _ slot: Int, _ destination: EntityIndex, _ key: Int64
    ) throws(StorageError) -> ManagedObject? {
        if let known = identityMap(destination, Int(object._store)).find(key) { return known.isDeletedObject ? nil : known }
        let shape = RequestShape(object.description.name, object.description.slots[slot].name)
        return try measured(.relationship, shape, rows: { $0 == nil ? 0 : 1 }) { () throws(StorageError) -> ManagedObject? in
            try self.object(destination, key, Int(object._store))
        }
    }

    /// Assigns a to-one relationship and updates its inverse.
    ///
    /// - Parameter isMember: Whether the target is known to have the object already if the object references it. If it does not, another
    ///   transaction has changed the reference, which is then assigned again, so that the versions are compared at commit.
    /// - Returns: Whether the assignment was not refused. A refused one has changed nothing.
    @discardableResult
    func relate(_ object: ManagedObject, _ slot: Int, to target: ManagedObject?, isMember: Bool = true) -> Bool {
        if object.isRowOnly { return refer(object, slot, to: target) }
        let old = object._reference(slot)
        // Objects of other entities and stores can have the same key.
        guard old != target?._key || target == nil || !isMember else { return accepts(target, for: object, slot) }
        guard object._dirty != 0 || object._isAssignable(slot), accepts(target, for: object, slot) else { return false }
        if target == nil { tracker?.willClear(object, slot) }
        tracker?.willAssign(object, slot)
        object._touch(slot)
        switch model.inverses[Int(object._entity)][slot] {
        case .none: break
        case .toOne(let inverse): moveOneToOne(object, slot, inverse, from: old, to: target)
        case .toMany(let relationship):
            moveMember(object, slot, relationship, from: old, to: target)
            if let target { add(object._key, to: target, relationship) }
        case .ordered(let relationship, let link):
            moveMember(object, slot, relationship, from: old, to: target)
            if let old, old != target?._key { unlink(link, Int(object._store), owner: old, member: object._key) }
            if let target { append(object, to: target, relationship, link) }
        }
        // Members that had to be loaded for this were loaded after a flush, which clears the mark of the first touch.
        object._touch(slot)
        object._setReference(slot, target?._key)
        return true
    }

    /// Assigns a to-one relationship of an object that represents a row of a batch. The inverse is updated when the row is written.
    private func refer(_ object: ManagedObject, _ slot: Int, to target: ManagedObject?) -> Bool {
        switch model.inverses[Int(object._entity)][slot] {
        case .none, .toMany: break
        case .toOne, .ordered: if !hasRelationships(object, object.description.slots[slot].name) { return false }
        }
        guard object._dirty != 0 || object._isAssignable(slot), accepts(target, for: object, slot) else { return false }
        object._touch(slot)
        object._setReference(slot, target?._key)
        if let target { rowDestinations.append((object, slot, target)) }
        return true
    }

    /// Whether relationships of an object can be assigned whose change concerns other objects. Those of an object that represents a row of a
    /// batch cannot.
    func hasRelationships(_ object: ManagedObject, _ property: @autoclosure () -> String) -> Bool {
        if !object.isRowOnly { return true }
        fail(Self.unsupportedInBatches(object.description.name, property()))
        return false
    }

    static func unsupportedInBatches(_ entity: String, _ property: String) -> StorageError {
        StorageError(
            .unsupported,
            "a batch cannot assign the relationship \(entity).\(property), only those of inserted objects to one object whose inverse is "
                + "unordered; create the objects one by one", details: .init(entity: entity, property: property))
    }

    /// Whether an object can be a destination: it belongs to this context and store and was not deleted.
    private func accepts(_ target: ManagedObject?, for object: ManagedObject, _ slot: Int) -> Bool {
        guard let target else { return true }
        let name = "\(object.description.name).\(object.description.slots[slot].name)"
        return accepts(target, for: object, named: name, object.description.slots[slot].destination)
    }

    func accepts(_ target: ManagedObject, for object: ManagedObject, named name: String, _ destination: EntityIndex?) -> Bool {
        if target._context !== self {
            fail(
                StorageError(
                    .validationFailed, "\(name) was assigned an object of another context; use the object that transaction.edit returns"))
            return false
        }
        if target._store != object._store {
            fail(StorageError(.unsupported, "\(name) was assigned an object of another store; a relationship cannot refer to other stores"))
            return false
        }
        if target.isDeletedObject {
            fail(StorageError(.validationFailed, "\(name) was assigned an object that was deleted in this transaction"))
            return false
        }
        if target.isRowOnly {
            fail(
                StorageError(
                    .unsupported, "\(name) was assigned an object of a batch; create the objects one by one"))
            return false
        }
        if let destination, !model.schema[destination].family.contains(Int(target._entity)) {
            fail(
                StorageError(
                    .validationFailed,
                    "\(name) was assigned an object of \(target.description.name), not of \(model.schema[destination].name)"))
            return false
        }
        return true
    }

    private func moveOneToOne(_ object: ManagedObject, _ slot: Int, _ inverse: Int, from old: Int64?, to target: ManagedObject?) {
        if let old, old != target?._key, let former = partner(of: object, slot, old), refers(former, inverse, to: object) {
            clear(former, inverse)
        }
        guard let target else { return }
        if let owner = target._reference(inverse), owner != object._key, let former = partner(of: target, inverse, owner),
            refers(former, slot, to: target)
        {
            clear(former, slot)
        }
        tracker?.willAssign(target, inverse)
        assign(target, inverse, object._key)
    }

    /// Whether one end of a relationship references an object of which the other end is known. If it does not, one of both was read before
    /// another transaction has changed them, and the store decides.
    func refers(_ other: ManagedObject, _ slot: Int, to object: ManagedObject) -> Bool {
        if other._reference(slot) == object._key { return true }
        guard sessions == nil, !other.isNew, !other.isDeletedObject, tracker?.mask(other).contains(slot) != true else { return false }
        let stored = attempt { () throws(StorageError) in
            let batch = RowBatch(capacity: 1)
            try withReader(Int(other._store)) { reader throws(StorageError) in
                try reader.row(Int(other._entity), key: other._key, into: batch)
            }
            return batch.count == 1 && !batch.row(0)[slot].isNull && batch.row(0)[slot].int == object._key
        }
        return stored ?? false
    }

    /// Sets a reference to nil because its other end is assigned.
    private func clear(_ object: ManagedObject, _ slot: Int) {
        willImply(object, slot)
        assign(object, slot, nil)
    }

    /// Records that a reference is about to become nil because its other end is assigned, if a merge may need to know.
    func willImply(_ object: ManagedObject, _ slot: Int) {
        if sessions == nil, object._reference(slot) != nil { tracker?.willImply(object, slot) }
    }

    /// Returns the destination, which is loaded because the inverse must be updated.
    private func partner(of object: ManagedObject, _ slot: Int, _ key: Int64) -> ManagedObject? {
        guard let destination = object.description.slots[slot].destination else { return nil }
        return attempt(object, object.description.slots[slot].name) { () throws(StorageError) in
            try self.object(destination, key, Int(object._store))
        } ?? nil
    }

    /// Assigns a key without updating the inverse.
    func assign(_ object: ManagedObject, _ slot: Int, _ key: Int64?) {
        if key == nil { tracker?.willClear(object, slot) }
        object._touch(slot)
        object._setReference(slot, key)
    }

    /// Removes an object from the known members of the former owner, and schedules a recount for both owners at commit.
    private func moveMember(_ object: ManagedObject, _ slot: Int, _ relationship: Int, from old: Int64?, to target: ManagedObject?) {
        guard let destination = object.description.slots[slot].destination else { return }
        if let old { identityMap(destination, Int(object._store)).find(old)?._collections[relationship]?.remove(object._key) }
        if model.hasCounts {
            for key in [old, target?._key].compactMap({ $0 }) {
                tracker?.recount(Int(object._store), model.schema[destination].root, key, relationship)
            }
        }
    }

    /// Adds a key to a to-many relationship if its members are known. Those of a new object are known to be empty initially.
    func add(_ key: Int64, to object: ManagedObject, _ relationship: Int) {
        let knowsNone = object.isNew && tracker?.knowsMembersOfNewObjects != false
        if knowsNone, object._collections[relationship] == nil { object._collections[relationship] = ToManyState(keys: []) }
        object._collections[relationship]?.append(key)
    }

    /// Runs the load of an object's property whose error can only be recorded. The error names the property, unless it names another one.
    func attempt<R>(_ object: ManagedObject, _ property: @autoclosure () -> String?, _ body: () throws(StorageError) -> R) -> R? {
        do throws(StorageError) { return try body() } catch {
            var named = error
            let entity = object.description.name
            if named.details.entity == nil { (named.details.entity, named.details.keys) = (entity, [object._key]) }
            if named.details.entity == entity, named.details.property == nil { named.details.property = property() }
            if let property = property() { didFailToLoad(object, property, named) }
            fail(named)
            return nil
        }
    }

    /// Runs a load whose error can only be recorded.
    package func attempt<R>(_ body: () throws(StorageError) -> R) -> R? {
        do throws(StorageError) { return try body() } catch {
            fail(error)
            return nil
        }
    }
}
