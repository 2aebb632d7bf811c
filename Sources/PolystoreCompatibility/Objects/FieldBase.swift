internal import Polystore

/// The base class of every declared property of a `CoreStoreObject`: a field with a stored name, bound to the object for which it was
/// created.
open class FieldBase {
    /// The stored name.
    public final let keyPath: String
    /// The object, or nil after it was released: `dog.master.value?.pets.value` releases the master before it accesses the pets.
    final var owner: Unmanaged<CoreStoreObject>?
    /// The location from which a released object is fetched again.
    final var origin: ObjectPlace?
    /// The slot in the rows of the object's entity, -1 for a field that is not in a row, or `slotInSnapshot`.
    final var slot = -1

    init(_ keyPath: String) {
        self.keyPath = keyPath
        ConstructionFrame.add(self)
    }

    /// The object for which the field was created, or another instance of the same row and context.
    final var object: CoreStoreObject? {
        if let owner { return owner.takeUnretainedValue() }
        return origin?.object as? CoreStoreObject
    }

    /// The stored name; nil for a field that is not stored.
    package var storedName: String? { keyPath }

    /// Adds the declaration of the field to an entity.
    func declare(_ entity: inout Polystore.Entity, _ types: SchemaTypes) throws(StorageError) {}

    /// Loads the value from the cell of a row.
    func load(_ row: borrowing RowView, _ context: borrowing ObjectContext) {}

    /// Loads the value from a snapshot, for the accessors of the fields of an object that represents it.
    func load<Object>(_ snapshot: ObjectSnapshot<Object>) { slot = Self.slotInSnapshot }

    /// The slot of a field whose object represents a snapshot.
    static let slotInSnapshot = -2

    /// Whether the object of the field represents a snapshot.
    final var isInSnapshot: Bool { slot == Self.slotInSnapshot }

    /// Sets the initial value of a new object.
    func begin() {}

    /// Returns a cell with the current value.
    func encoded(_ batch: RowBatch) -> Cell { .null }

    /// The primary key of the destination of a to-one relationship.
    var reference: Int64? {
        get { nil }
        set {}
    }
}

extension FieldBase: PropertyDeclaration {
    package final var declaringObject: ManagedObject? { object }
}
