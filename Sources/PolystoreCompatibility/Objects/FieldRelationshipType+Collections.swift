public import Polystore

extension Optional: FieldRelationshipType, FieldRelationshipToOneType where Wrapped: CoreStoreObject {
    /// The class of the destination.
    public typealias Destination = Wrapped
    /// The cardinality of a to-one relationship.
    public static var cardinality: Cardinality { .toOne }
    /// Returns the destination of a field.
    public static func read(_ field: RelationshipField) -> Wrapped? { field.one(Wrapped.self) }
    /// Sets the destination of a field.
    public func write(_ field: RelationshipField) { field.setOne(self) }
}

extension Set: FieldRelationshipType, FieldRelationshipToManyType where Element: CoreStoreObject {
    /// The class of the destinations.
    public typealias Destination = Element
    /// The cardinality of an unordered to-many relationship.
    public static var cardinality: Cardinality { .toMany }
    /// Returns the destinations of a field.
    public static func read(_ field: RelationshipField) -> Set<Element> { field.set(Element.self) }
    /// Sets the destinations of a field.
    public func write(_ field: RelationshipField) { field.setMany(self) }
}

extension Array: FieldRelationshipType, FieldRelationshipToManyType where Element: CoreStoreObject {
    /// The class of the destinations.
    public typealias Destination = Element
    /// The cardinality of an ordered to-many relationship.
    public static var cardinality: Cardinality { .toManyOrdered }
    /// Returns the destinations of a field, in order.
    public static func read(_ field: RelationshipField) -> [Element] { field.list(Element.self) }
    /// Sets the destinations of a field, in order.
    public func write(_ field: RelationshipField) { field.setMany(self) }
}
