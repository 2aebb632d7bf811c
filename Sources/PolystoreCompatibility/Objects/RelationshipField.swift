internal import Polystore

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

    final func one<T: ManagedObject>(_ type: T.Type) -> T? { isReadable ? object?._one(slot, key, type) : nil }
    final func setOne(_ target: ManagedObject?) { if isReadable { object?._setOne(slot, target) } }
    final func set<T: ManagedObject>(_ type: T.Type) -> Set<T> { isReadable ? object?._set(keyPath, type) ?? [] : [] }
    final func list<T: ManagedObject>(_ type: T.Type) -> [T] { isReadable ? object?._list(keyPath, type) ?? [] : [] }
    final func setMany(_ members: some Sequence<ManagedObject>) { if isReadable { object?._setMany(keyPath, members) } }

    /// Whether the field has objects: a snapshot has only their identities, so that its use by an accessor is a programming error, which is
    /// reported to the logger.
    private var isReadable: Bool {
        if !isInSnapshot { return true }
        _ = StoreLogging.reportMisuse(
            StorageError(
                .invalidConfiguration,
                "the getter of a field reads the relationship \(keyPath) in a snapshot, which has no objects; read only values in getters"))
        return false
    }
}
