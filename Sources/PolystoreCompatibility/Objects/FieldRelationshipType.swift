public import Polystore

/// A type that a `@Field.Relationship` can have.
public protocol FieldRelationshipType {
    /// The destination class.
    associatedtype Destination: CoreStoreObject
    /// The number of destinations.
    static var cardinality: Cardinality { get }
    /// Returns the destinations of a field.
    static func read(_ field: RelationshipField) -> Self
    /// Sets the destinations of a field to this value.
    func write(_ field: RelationshipField)
}

/// The type of a relationship to at most one object.
public protocol FieldRelationshipToOneType: FieldRelationshipType {}

/// The type of a relationship to any number of objects.
public protocol FieldRelationshipToManyType: FieldRelationshipType {}
