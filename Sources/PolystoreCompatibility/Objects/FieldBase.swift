public import Polystore

/// The base class of every declared property of a `CoreStoreObject`: a field with a stored name, bound to the object for which it was
/// created.
open class FieldBase {
    /// The stored name.
    public final let keyPath: String
    /// The object, or nil after it was released: `dog.master.value?.pets.value` releases the master before it accesses the pets.
    final var owner: Unmanaged<CoreStoreObject>?
    /// The location from which a released object is fetched again.
    final var origin: ObjectPlace?
    /// The slot in the rows of the object's entity, or -1 for a field that is not in a row.
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

    /// Adds the declaration of the field to an entity.
    func declare(_ entity: inout Polystore.Entity, _ types: SchemaTypes) throws(StorageError) {}

    /// Loads the value from the cell of a row.
    func load(_ row: borrowing RowView, _ context: borrowing ObjectContext) {}

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

/// A field that contains a value of a type in the row.
public class ValueField<V: AttributeValue>: FieldBase {
    final var primitive: V
    private let initial: () -> V
    private let isConstant: Bool
    private let originalName: String?

    init(_ keyPath: String, initial: @escaping () -> V, isConstant: Bool, originalName: String?) {
        primitive = V.placeholder
        self.initial = initial
        self.isConstant = isConstant
        self.originalName = originalName
        super.init(keyPath)
    }

    override func declare(_ entity: inout Polystore.Entity, _ types: SchemaTypes) throws(StorageError) {
        let value = isConstant ? initial().attributeValue : .null
        entity.attributes.append(
            Attribute(
                keyPath, V.valueType, isOptional: V.isOptionalAttribute, defaultValue: value.isNull ? nil : value,
                allowedValues: V.allowedValues, coder: V.coderName, originalName: originalName))
    }

    override func load(_ row: borrowing RowView, _ context: borrowing ObjectContext) {
        primitive = CoreStoreObject._decode(row, slot, context)
    }

    override func begin() { primitive = initial() }

    override func encoded(_ batch: RowBatch) -> Cell { primitive._encode(batch) }

    /// The value as accessed through a key path.
    final var stored: V {
        get {
            if slot >= 0 { owner?._withUnsafeGuaranteedRef { $0._check(slot) } }
            return primitive
        }
        set {
            guard slot >= 0, let object else {
                primitive = newValue
                return
            }
            if owner == nil, let successor = object.declaredFields.first(where: { $0.keyPath == keyPath }) as? ValueField<V> {
                successor.stored = newValue
                primitive = successor.primitive
                return
            }
            guard let value = object._acceptBytes(newValue, slot) else { return }
            object._touch(slot)
            primitive = value
        }
    }
}

/// A field that references other objects.
public class RelationshipField: FieldBase {
    let destination: CoreStoreObject.Type
    let cardinality: Cardinality
    let deleteRule: DeleteRule
    let counts: (minimum: Int?, maximum: Int?)
    let originalName: String?
    /// Returns the inverse field, given an object of the destination.
    let inverse: ((CoreStoreObject) -> FieldBase?)?
    private var key: Int64?

    init(
        _ keyPath: String, _ destination: CoreStoreObject.Type, _ cardinality: Cardinality, _ deleteRule: DeleteRule,
        counts: (minimum: Int?, maximum: Int?) = (nil, nil), originalName: String? = nil, inverse: ((CoreStoreObject) -> FieldBase?)?
    ) {
        self.destination = destination
        self.cardinality = cardinality
        self.deleteRule = deleteRule
        self.counts = counts
        self.originalName = originalName
        self.inverse = inverse
        super.init(keyPath)
    }

    override func declare(_ entity: inout Polystore.Entity, _ types: SchemaTypes) throws(StorageError) {
        let (name, prototype) = try types.entity(of: destination, for: "\(entity.name).\(keyPath)")
        entity.relationships.append(
            Relationship(
                keyPath, to: name, cardinality, inverse: inverse?(prototype)?.keyPath, deleteRule: deleteRule,
                minCount: counts.minimum, maxCount: counts.maximum, originalName: originalName))
    }

    override func load(_ row: borrowing RowView, _ context: borrowing ObjectContext) {
        if slot >= 0 { key = CoreStoreObject._decode(row, slot, context) }
    }

    override func encoded(_ batch: RowBatch) -> Cell { key._encode(batch) }

    override var reference: Int64? {
        get { key }
        set { key = newValue }
    }

    final func one<T: ManagedObject>(_ type: T.Type) -> T? { object?._one(slot, key, type) }
    final func setOne(_ target: ManagedObject?) { object?._setOne(slot, target) }
    final func set<T: ManagedObject>(_ type: T.Type) -> Set<T> { object?._set(keyPath, type) ?? [] }
    final func list<T: ManagedObject>(_ type: T.Type) -> [T] { object?._list(keyPath, type) ?? [] }
    final func setMany(_ members: some Sequence<ManagedObject>) { object?._setMany(keyPath, members) }
}
