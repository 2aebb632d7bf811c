internal import Foundation
public import Polystore

/// A field that conditions compare with values: `\.$name == "Ann"`.
public protocol ComparableField: FieldBase {
    /// The type of the values.
    associatedtype ComparedValue
    /// Returns the stored form of a value.
    ///
    /// - Throws: `invalidPredicate` for a deleted object.
    func _constant(_ value: ComparedValue) throws(StorageError) -> Value
}

/// A field whose values are ordered: `\.$age < 18`.
public protocol OrderedField: ComparableField {}

/// The field of a relationship to at most one object.
public protocol ToOneField: RelationshipField, ComparableField where ComparedValue == Destination? {
    /// The class of the object.
    associatedtype Destination: CoreStoreObject
}

/// The field of a relationship to any number of objects.
public protocol ToManyField: RelationshipField {
    /// The class of the objects.
    associatedtype Destination: CoreStoreObject
}

extension ToOneField {
    /// Returns the identity of an object.
    public func _constant(_ value: Destination?) throws(StorageError) -> Value { try value?.comparedIdentity() ?? .null }
}

extension FieldContainer.Stored: OrderedField {
    /// Returns the stored form of a value.
    public func _constant(_ value: V) -> Value { value.attributeValue }
}

extension FieldContainer.Coded: ComparableField {
    /// Returns the bytes that the coder creates from a value. Values are equal if their bytes are.
    public func _constant(_ value: V) -> Value { encoded(value).attributeValue }
}

extension FieldContainer.Relationship: ComparableField, ToOneField where R: FieldRelationshipToOneType {
    /// An object of the class, or nil.
    public typealias ComparedValue = R.Destination?
}

extension FieldContainer.Relationship: ToManyField where R: FieldRelationshipToManyType {}

extension ValueContainer.Required: OrderedField {
    /// Returns the stored form of a value.
    public func _constant(_ value: V) -> Value { value.attributeValue }
}

extension ValueContainer.Optional: OrderedField {
    /// Returns the stored form of a value.
    public func _constant(_ value: V?) -> Value { value.attributeValue }
}

extension RelationshipContainer.ToOne: ToOneField {
    /// The class of the object.
    public typealias Destination = D
}

extension RelationshipContainer.ToManyOrdered: ToManyField {
    /// The class of the objects.
    public typealias Destination = D
}

extension RelationshipContainer.ToManyUnordered: ToManyField {
    /// The class of the objects.
    public typealias Destination = D
}
