public import PolystoreStorage

/// An object of an entity that is known only at run time, with access to attributes by name.
public final class DynamicObject: ManagedObject {
    private var values: ContiguousArray<Value>

    /// Creates an object from a row and decodes every cell.
    public required init(_row row: borrowing RowView, _ context: borrowing ObjectContext) {
        values = Self.decode(row, context)
        super.init(_row: row, context)
    }

    /// Creates a new object with the defaults of its entity.
    public required init(_new key: Int64, _ entity: EntityIndex, _ context: borrowing ObjectContext) {
        values = ContiguousArray(context.model.schema[entity].slots.map { $0.attribute?.defaultValue ?? .null })
        super.init(_new: key, entity, context)
    }

    private static func decode(_ row: borrowing RowView, _ context: ObjectContext) -> ContiguousArray<Value> {
        let slots = context.model.schema[row.entity].slots
        var values = ContiguousArray<Value>()
        values.reserveCapacity(slots.count)
        for index in slots.indices {
            if let value = Value(row[index], as: slots[index].type) {
                values.append(value)
            } else {
                context._undecodable(row, index)
                values.append(.null)
            }
        }
        return values
    }

    /// Replaces the values by those of a newer row.
    public override func _reload(_ row: borrowing RowView, _ mask: UInt64) {
        super._reload(row, mask)
        for (slot, value) in Self.decode(row, _context).enumerated() where Self._has(mask, slot) { values[slot] = value }
    }

    /// Encodes the slots of a mask as cells.
    public override func _encode(_ cells: UnsafeMutablePointer<Cell>, _ batch: RowBatch, _ mask: UInt64) {
        for slot in values.indices where Self._has(mask, slot) { cells[slot] = batch.cell(for: values[slot]) }
    }

    /// Returns the key in a slot.
    public override func _reference(_ slot: Int) -> Int64? { if case .int(let key) = values[slot] { key } else { nil } }

    /// Sets the key in a slot.
    public override func _setReference(_ slot: Int, _ key: Int64?) { values[slot] = key.map(Value.int) ?? .null }

    /// Returns the value of an attribute, or the key of a to-one relationship.
    ///
    /// - Throws: `invalidPredicate` for a name that the entity does not have, with the most similar name; for an unfetched attribute the
    ///   error of its load, such as `unplannedLoad` or a lost connection.
    public func value(_ name: String) throws(StorageError) -> Value {
        let slot = try slot(name)
        if _flags & Flags.slow != 0 { try _context.throwingFailures { _check(slot) } }
        return values[slot]
    }

    /// Assigns an attribute.
    ///
    /// - Throws: `invalidPredicate` for a name that the entity does not have, and for a relationship; a value error for a value that cannot be
    ///   stored; `readOnly` outside the transaction of the object; the error of a load.
    public func setValue(_ value: Value, for name: String) throws(StorageError) {
        let slot = try slot(name)
        guard description.slots[slot].destination == nil else { throw kind(name, "an attribute") }
        if _dirty == 0, !_context.canAssign(self) {
            throw try _context.throwingFailures { _context.refuseAssignment(self, name) }
        }
        // What a detached transaction records before the first change, and the last bit of a mask, concern unfetched attributes as well.
        if _flags & Flags.slow != 0, _context.sessions == nil || slot > 62 { try _context.loadLeftOut(self) }
        do throws(ValueError) {
            let normal = try description.normalise(value, slot: slot)
            _touch(slot)
            values[slot] = normal
        } catch {
            throw StorageError(error)
        }
    }

    /// Returns the destination of a to-one relationship.
    ///
    /// - Throws: `invalidPredicate` for a name that the entity does not have, with the most similar name, and for another kind of property;
    ///   the error of the load.
    public func object(_ name: String) throws(StorageError) -> ManagedObject? {
        let slot = try reference(name)
        return try _context.throwingFailures { _one(slot, _reference(slot), ManagedObject.self) }
    }

    /// Sets the destination of a to-one relationship, or removes it.
    ///
    /// - Throws: `invalidPredicate` for a name that the entity does not have, with the most similar name, and for another kind of property;
    ///   `validationFailed` or `unsupported` for an object that cannot be the destination; `readOnly` outside the transaction of the object.
    public func setObject(_ object: ManagedObject?, for name: String) throws(StorageError) {
        let slot = try reference(name)
        try _context.throwingRefusal { _context.relate(self, slot, to: object) }
    }

    /// Returns the destinations of a to-many relationship: in their order if the relationship is ordered, otherwise sorted by primary key.
    ///
    /// - Throws: `invalidPredicate` for a name that the entity does not have, with the most similar name, and for another kind of property;
    ///   the error of the load.
    public func objects(_ name: String) throws(StorageError) -> [ManagedObject] {
        switch try cardinality(name) {
        case .toOne: throw kind(name, "a to-many relationship")
        case .toMany: return try _context.throwingFailures { _set(name, ManagedObject.self).sorted { $0._key < $1._key } }
        case .toManyOrdered: return try _context.throwingFailures { _list(name, ManagedObject.self) }
        }
    }

    /// Sets the destinations of a to-many relationship, in the given order if the relationship is ordered.
    ///
    /// - Throws: `invalidPredicate` for a name that the entity does not have, with the most similar name, and for another kind of property;
    ///   `validationFailed` or `unsupported` for an object that cannot be a destination; `readOnly` outside the transaction of the object.
    public func setObjects(_ objects: some Sequence<ManagedObject>, for name: String) throws(StorageError) {
        if case .toOne = try cardinality(name) { throw kind(name, "a to-many relationship") }
        let members = Array(objects)
        try _context.throwingRefusal { _context.setMembers(self, name, members) }
        _context.planAssigned(self, name)
    }

    private func reference(_ name: String) throws(StorageError) -> Int {
        if description.slot(name) == nil, description.relationship(name) != nil { throw kind(name, "a to-one relationship") }
        let slot = try slot(name)
        guard description.slots[slot].destination != nil else { throw kind(name, "a to-one relationship") }
        return slot
    }

    private func cardinality(_ name: String) throws(StorageError) -> Cardinality {
        if let found = description.relationship(name) { return found.relationship.cardinality }
        throw StorageError(
            .invalidPredicate,
            "\(description.name) has no relationship \"\(name)\"\(Suggestion.nearest(name, in: description.relationships.map(\.relationship.name)))"
        )
    }

    private func kind(_ name: String, _ wanted: String) -> StorageError {
        StorageError(
            .invalidPredicate, "\(description.name).\(name) is not \(wanted)", details: .init(entity: description.name, property: name))
    }

    private func slot(_ name: String) throws(StorageError) -> Int {
        if let slot = description.slot(name) { return slot }
        throw StorageError(
            .invalidPredicate,
            "\(description.name) has no attribute \"\(name)\"\(Suggestion.nearest(name, in: description.slots.map(\.name)))")
    }
}
