public import Polystore

/// The type of a relationship with the type of its identities in a snapshot.
public protocol FieldSnapshotType: FieldRelationshipType {
    /// The type of the identities: `ObjectID<D>?`, a set or an array of them.
    associatedtype SnapshotValue
    /// Returns the value of identities in their order.
    static func _snapshotValue(_ ids: [ObjectID<Destination>]) -> SnapshotValue
    /// Returns the identities of a value.
    static func _identities(_ value: SnapshotValue) -> [ObjectID<Destination>]
}

extension Optional: FieldSnapshotType where Wrapped: CoreStoreObject {
    /// Returns the first identity.
    public static func _snapshotValue(_ ids: [ObjectID<Wrapped>]) -> ObjectID<Wrapped>? { ids.first }
    /// Returns the identities of a value.
    public static func _identities(_ value: ObjectID<Wrapped>?) -> [ObjectID<Wrapped>] { value.map { [$0] } ?? [] }
}

extension Set: FieldSnapshotType where Element: CoreStoreObject {
    /// Returns a set of identities.
    public static func _snapshotValue(_ ids: [ObjectID<Element>]) -> Set<ObjectID<Element>> { Set<ObjectID<Element>>(ids) }
    /// Returns the identities of a value, sorted by key.
    public static func _identities(_ value: Set<ObjectID<Element>>) -> [ObjectID<Element>] { value.sorted { $0.key.key < $1.key.key } }
}

extension Array: FieldSnapshotType where Element: CoreStoreObject {
    /// Returns the identities.
    public static func _snapshotValue(_ ids: [ObjectID<Element>]) -> [ObjectID<Element>] { ids }
    /// Returns the identities of a value.
    public static func _identities(_ value: [ObjectID<Element>]) -> [ObjectID<Element>] { value }
}
