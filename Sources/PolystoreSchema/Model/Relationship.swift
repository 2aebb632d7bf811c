/// The number of destinations of a relationship.
public enum Cardinality: String, Sendable, Hashable, Codable {
    /// At most one.
    case toOne
    /// A set.
    case toMany
    /// A list without duplicates, whose order is part of the data.
    case toManyOrdered
}

/// The effect of the deletion of an object on the destinations of a relationship.
public enum DeleteRule: String, Sendable, Hashable, Codable {
    /// References to the deleted object become nil.
    case nullify
    /// The objects that the deleted object references are deleted as well.
    case cascade
    /// The object cannot be deleted while it references another object.
    case deny
}

/// A relationship of an entity to a destination entity, with its inverse and delete rule.
public struct Relationship: Sendable, Hashable {
    /// The stored name.
    public var name: String
    /// The name of the destination entity.
    public var destination: String
    /// The number of destinations.
    public var cardinality: Cardinality
    /// Whether a to-one relationship may be nil, or a to-many relationship empty.
    public var isOptional: Bool
    /// The relationship of the destination that is the inverse.
    public var inverse: String?
    /// The effect on the destination when the owner is deleted.
    public var deleteRule: DeleteRule
    /// The minimum number of destinations of a to-many relationship, or nil for no limit.
    public var minCount: Int?
    /// The maximum number of destinations of a to-many relationship, or nil for no limit.
    public var maxCount: Int?
    /// The name of the relationship in the previous version, if it was renamed.
    public var originalName: String?

    /// Creates a relationship, by default optional and with the delete rule `nullify`.
    public init(
        _ name: String, to destination: String, _ cardinality: Cardinality = .toOne, isOptional: Bool = true, inverse: String? = nil,
        deleteRule: DeleteRule = .nullify, minCount: Int? = nil, maxCount: Int? = nil, originalName: String? = nil
    ) {
        self.name = name
        self.destination = destination
        self.cardinality = cardinality
        self.isOptional = isOptional
        self.inverse = inverse
        self.deleteRule = deleteRule
        self.minCount = minCount
        self.maxCount = maxCount
        self.originalName = originalName
    }
}
