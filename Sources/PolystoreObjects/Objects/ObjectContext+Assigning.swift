internal import PolystoreStorage

/// Assignments of properties.
extension ObjectContext {
    /// Prepares the first assignment to a clean object.
    func willChange(_ object: ManagedObject, _ slot: Int) {
        guard let tracker else { return }
        tracker.changed.append(object)
        // A detached transaction can conflict with others: its initial rows are needed to determine which transaction changed which
        // property.
        if sessions == nil { tracker.bases[ObjectIdentifier(object)] = SavedRow(object) }
    }

    /// Returns whether an object of this context can be changed.
    func canAssign(_ object: ManagedObject) -> Bool {
        tracker != nil && object._flags & (ManagedObject.Flags.deleted | ManagedObject.Flags.taken) == 0
    }

    /// Reports an assignment that is not performed: a setter cannot throw, and a programming error must not end a server. The context
    /// records it, so that the current transaction or read throws it at its end.
    @discardableResult
    func refuseAssignment(_ object: ManagedObject, _ property: String) -> StorageError {
        let isTaken = object._flags & ManagedObject.Flags.taken != 0
        let reason =
            object.isDeletedObject
            ? "assigned after the object was deleted"
            : isTaken ? "assigned after the closure of its batch" : "assigned outside its transaction"
        let remedy = isTaken ? "assign to an object that is fetched" : "assign to the object that transaction.edit(id) returns"
        let name = object.description.name
        let error = StoreLogging.reportMisuse(
            StorageError(
                .readOnly,
                "\(name).\(property) was \(reason) and was not changed; \(remedy)",
                details: .init(entity: name, property: property, keys: [object._key])))
        fail(error)
        return error
    }

    func touchHigh(_ object: ManagedObject, _ slot: Int) {
        guard let tracker else { return }
        // An entry under its address may belong to discarded changes, or to a released object.
        if object._dirty >> 63 == 0 { tracker.highSlots[ObjectIdentifier(object)] = nil }
        tracker.highSlots[ObjectIdentifier(object), default: SlotMask()].insert(slot)
    }
}
