internal import PolystoreStorage

/// Objects that were fetched without some of their attributes. The first access to an unfetched attribute loads all of them.
extension ManagedObject {
    /// Returns whether an attribute is unfetched and was not assigned since.
    final func lacks(_ slot: Int) -> Bool {
        Self._has(unfetched, slot)
    }

    /// The slots that are unfetched and were not assigned since, in the form of `_dirty`.
    final var unfetched: UInt64 { (extras?.leftOut ?? 0) & ~_dirty }

    /// Marks slots as unfetched.
    @inline(__always)
    final func leaveOut(_ mask: UInt64) {
        if mask == 0 { return }
        madeExtras().leftOut = mask
        _flags |= Flags.slow
    }

    /// Marks all values as unfetched.
    package final func _leaveOutAll() { leaveOut(.max) }

    /// Marks the object as complete and returns its unfetched slots, without the assigned ones.
    final func takeLeftOut() -> UInt64 {
        guard !_isPrototype, let extras, extras.leftOut != 0 else { return 0 }
        defer { extras.leftOut = 0 }
        _flags &= ~Flags.slow
        return extras.leftOut & ~_dirty
    }

    /// Loads the unfetched attributes. The context records an error.
    final func complete() { if _flags & Flags.slow != 0 { _context.complete(self) } }

    /// Sets the unfetched attributes from an available row.
    @inline(__always)
    final func fill(_ row: borrowing RowView) {
        if _flags & Flags.slow == 0 { return }
        let mask = takeLeftOut()
        if mask == 0 { return }
        _context.willFill(self)
        _reload(row, mask)
    }

    /// Sets all values from a row and discards the known relationships.
    final func takeOver(_ row: borrowing RowView) {
        _ = takeLeftOut()
        _context.willReplace(self)
        _context.loadingStore = _store
        _reload(row, .max)
        forgetRelationships()
    }

    /// Discards the known to-many relationships. Prefetched objects stay alive, and what was planned stays planned.
    final func forgetRelationships() {
        guard let extras, extras.leftOut != 0 || extras.prefetched != nil else { return self.extras = nil }
        extras.collections = [:]
    }
}

extension ObjectContext {
    /// Loads the unfetched attributes of an object, if a slot is one of them.
    func loadLeftOut(_ object: ManagedObject, _ slot: Int) {
        if object.isRowOnly { return checkAssigned(object, slot) }
        guard object.lacks(slot) else { return }
        let name = object.description.slots[slot].name
        if !isStrict { return complete(object, name, isRead: true) }
        let error = unfetched(object, slot)
        didFailToLoad(object, name, error)
        fail(error)
    }

    /// Refuses to read a slot of a row of an upsert that its closure has not assigned: the value in the store, if there is one, was not read.
    private func checkAssigned(_ object: ManagedObject, _ slot: Int) {
        if tracker?.mask(object).contains(slot) != false { return }
        let entity = object.description.name, name = object.description.slots[slot].name
        fail(
            StorageError(
                .unsupported,
                "\(entity).\(name) was read in an upsert, which does not read the values of existing objects; use importUniqueObjects, or "
                    + "updateAll with an expression",
                details: .init(entity: entity, property: name)))
    }

    /// Loads the unfetched attributes of an object before all of its values are read.
    ///
    /// - Throws: `unplannedLoad` under strict loading; the error of the load.
    func loadForReading(_ object: ManagedObject) throws(StorageError) {
        if isStrict, let slot = object.description.slots.indices.first(where: object.lacks) { throw unfetched(object, slot) }
        try loadLeftOut(object)
    }

    /// Returns the error of strict loading for an attribute.
    private func unfetched(_ object: ManagedObject, _ slot: Int) -> StorageError {
        let entity = object.description.name, name = object.description.slots[slot].name
        return StorageError(
            .unplannedLoad, "\(entity).\(name) was not fetched; add it to properties(…) of the fetch",
            details: .init(entity: entity, property: name, keys: [object._key]))
    }

    /// Loads the unfetched attributes of an object. If this fails, the values are placeholders, and the next access loads them again.
    ///
    /// - Parameters:
    ///   - property: The attribute that is accessed.
    ///   - isRead: Whether the program reads it.
    func complete(_ object: ManagedObject, _ property: String? = nil, isRead: Bool = false) {
        _ = attempt(object, property) { () throws(StorageError) in try loadLeftOut(object, isRead: isRead) }
    }

    /// Loads the unfetched attributes of an object.
    ///
    /// - Parameter isRead: Whether the program reads one of them. Otherwise, what it assigns may be computed from a placeholder that was read
    ///   before.
    package func loadLeftOut(_ object: ManagedObject, isRead: Bool = false) throws(StorageError) {
        let mask = object.takeLeftOut()
        if mask == 0 { return }
        do throws(StorageError) {
            try withReader(Int(object._store)) { reader throws(StorageError) in
                let batch = RowBatch(capacity: 1)
                try reader.row(Int(object._entity), key: object._key, into: batch)
                guard batch.count == 1 else {
                    throw StorageError(
                        .notFound, "\(object.description.name) \(object._key) was deleted before all its properties were read",
                        details: .init(entity: object.description.name, keys: [object._key]))
                }
                if isRead { willFill(object) }
                loadingStore = object._store
                object._reload(batch.row(0), mask)
            }
        } catch {
            object.leaveOut(mask)
            throw error
        }
    }

    /// Returns the object of a row that was read with some of its fields.
    func object(of row: borrowing RowView, _ store: Int32, _ fields: FetchPlan.Fields) -> ManagedObject {
        guard case .some = fields else { return object(of: row, store) }
        if let known = identityMap(row.entity, Int(store)).find(row.key) { return known }
        loadingFields = fields
        defer { loadingFields = .all }
        let made = object(of: row, store)
        made.leaveOut(leftOut(row.entity, fields))
        return made
    }

    /// Returns the slots of an entity that a fetch does not load, in the form of `_dirty`.
    func leftOut(_ entity: EntityIndex, _ fields: FetchPlan.Fields) -> UInt64 {
        guard case .some = fields else { return 0 }
        var mask: UInt64 = 0
        for (slot, description) in model.schema[entity].slots.enumerated() where !fields.includes(slot, description) {
            mask |= 1 << UInt64(min(slot, 63))
        }
        return mask
    }
}
