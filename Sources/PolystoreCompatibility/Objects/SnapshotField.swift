internal import Foundation
public import Polystore

/// A field whose value a snapshot contains: `snapshot.$name`. Relationships are identities, as in all snapshots.
public protocol SnapshotField: FieldBase {
    /// The type of the value in a snapshot.
    associatedtype SnapshotValue
    /// Returns the value in a snapshot.
    func _value<O>(in snapshot: ObjectSnapshot<O>) -> SnapshotValue
    /// Replaces the value in a snapshot.
    func _setValue<O>(_ value: SnapshotValue, in snapshot: inout ObjectSnapshot<O>)
}

extension SnapshotField {
    func stored<O, V: AttributeValue>(_ snapshot: ObjectSnapshot<O>) -> V {
        snapshot.value(keyPath).flatMap { V(attributeValue: $0) } ?? V.placeholder
    }

    func store<O>(_ value: some AttributeValue, in snapshot: inout ObjectSnapshot<O>) {
        snapshot.setValue(value.attributeValue, for: keyPath)
    }

    func keys<O, D>(_ snapshot: ObjectSnapshot<O>, _ type: D.Type) -> [ObjectID<D>] {
        (snapshot.objectIDs(keyPath) ?? []).map { ObjectID($0.key) }
    }
}

extension FieldContainer.Stored: SnapshotField {
    /// Returns the value in a snapshot, computed by the getter of the field if it has one.
    public func _value<O>(in snapshot: ObjectSnapshot<O>) -> V {
        if customGetter == nil { return stored(snapshot) }
        object?.represent(snapshot)
        return value
    }
    /// Replaces the value in a snapshot.
    public func _setValue<O>(_ value: V, in snapshot: inout ObjectSnapshot<O>) { store(value, in: &snapshot) }
}

extension FieldContainer.Coded: SnapshotField {
    /// Returns the decoded value in a snapshot, computed by the getter of the field if it has one.
    public func _value<O>(in snapshot: ObjectSnapshot<O>) -> V {
        if customGetter == nil { return decoded(stored(snapshot)) }
        object?.represent(snapshot)
        return value
    }
    /// Encodes a value and replaces that in a snapshot.
    public func _setValue<O>(_ value: V, in snapshot: inout ObjectSnapshot<O>) { store(encoded(value), in: &snapshot) }
}

extension FieldContainer.Virtual {
    /// Returns the value that the getter computes from a snapshot.
    func value<O>(in snapshot: ObjectSnapshot<O>) -> V {
        object?.represent(snapshot)
        return value
    }
}

extension FieldContainer.Relationship: SnapshotField where R: FieldSnapshotType {
    /// Returns the identities in a snapshot.
    public func _value<O>(in snapshot: ObjectSnapshot<O>) -> R.SnapshotValue { R._snapshotValue(keys(snapshot, R.Destination.self)) }
    /// Replaces the identities in a snapshot.
    public func _setValue<O>(_ value: R.SnapshotValue, in snapshot: inout ObjectSnapshot<O>) {
        snapshot.setKeys(R._identities(value).map(\.key), for: keyPath)
    }
}

extension ValueContainer.Required: SnapshotField {
    /// Returns the value in a snapshot.
    public func _value<O>(in snapshot: ObjectSnapshot<O>) -> V { stored(snapshot) }
    /// Replaces the value in a snapshot.
    public func _setValue<O>(_ value: V, in snapshot: inout ObjectSnapshot<O>) { store(value, in: &snapshot) }
}

extension ValueContainer.Optional: SnapshotField {
    /// Returns the value in a snapshot.
    public func _value<O>(in snapshot: ObjectSnapshot<O>) -> V? { stored(snapshot) }
    /// Replaces the value in a snapshot.
    public func _setValue<O>(_ value: V?, in snapshot: inout ObjectSnapshot<O>) { store(value, in: &snapshot) }
}

extension TransformableContainer.Required: SnapshotField {
    /// Returns the decoded value in a snapshot; nil if the stored bytes cannot be decoded.
    public func _value<O>(in snapshot: ObjectSnapshot<O>) -> V? { (stored(snapshot) as CodedBox<V>).value }
    /// Encodes a value and replaces that in a snapshot.
    public func _setValue<O>(_ value: V?, in snapshot: inout ObjectSnapshot<O>) {
        store(CodedBox(value: value, bytes: .init()), in: &snapshot)
    }
}

extension TransformableContainer.Optional: SnapshotField {
    /// Returns the decoded value in a snapshot.
    public func _value<O>(in snapshot: ObjectSnapshot<O>) -> V? { (stored(snapshot) as CodedBox<V>?)?.value }
    /// Encodes a value and replaces that in a snapshot.
    public func _setValue<O>(_ value: V?, in snapshot: inout ObjectSnapshot<O>) {
        store(value.map { CodedBox(value: $0, bytes: .init()) }, in: &snapshot)
    }
}

extension RelationshipContainer.ToOne: SnapshotField {
    /// Returns the identity in a snapshot.
    public func _value<O>(in snapshot: ObjectSnapshot<O>) -> ObjectID<D>? { keys(snapshot, D.self).first }
    /// Replaces the identity in a snapshot.
    public func _setValue<O>(_ value: ObjectID<D>?, in snapshot: inout ObjectSnapshot<O>) {
        snapshot.setKeys(value.map { [$0.key] } ?? [], for: keyPath)
    }
}

extension RelationshipContainer.ToManyOrdered: SnapshotField {
    /// Returns the identities in a snapshot, in their order.
    public func _value<O>(in snapshot: ObjectSnapshot<O>) -> [ObjectID<D>] { keys(snapshot, D.self) }
    /// Replaces the identities in a snapshot.
    public func _setValue<O>(_ value: [ObjectID<D>], in snapshot: inout ObjectSnapshot<O>) {
        snapshot.setKeys(value.map(\.key), for: keyPath)
    }
}

extension RelationshipContainer.ToManyUnordered: SnapshotField {
    /// Returns the identities in a snapshot.
    public func _value<O>(in snapshot: ObjectSnapshot<O>) -> Set<ObjectID<D>> { Set(keys(snapshot, D.self)) }
    /// Replaces the identities in a snapshot.
    public func _setValue<O>(_ value: Set<ObjectID<D>>, in snapshot: inout ObjectSnapshot<O>) {
        snapshot.setKeys(value.map(\.key).sorted { $0.key < $1.key }, for: keyPath)
    }
}
