/// How many objects a relationship leads to.
public enum Cardinality: String, Sendable, Hashable, Codable {
    /// At most one.
    case toOne
    /// A set.
    case toMany
    /// A list without duplicates, whose order is part of the data.
    case toManyOrdered
}

/// What happens to the other side when an object is deleted.
public enum DeleteRule: String, Sendable, Hashable, Codable {
    /// References to the deleted object become nil.
    case nullify
    /// The objects that it refers to are deleted too.
    case cascade
    /// Nothing may be deleted while it refers to an object.
    case deny
}

/// A relationship of an entity to another, with its inverse and delete rule.
public struct Relationship: Sendable, Hashable {
    /// The stored name.
    public var name: String
    /// The name of the entity that it leads to.
    public var destination: String
    /// How many objects it leads to.
    public var cardinality: Cardinality
    /// Whether a to-one may be nil, or a to-many empty.
    public var isOptional: Bool
    /// The relationship of the destination that is the other side.
    public var inverse: String?
    /// What happens to the destination when the owner is deleted.
    public var deleteRule: DeleteRule
    /// The least number of objects that a to-many leads to; nil for no limit.
    public var minCount: Int?
    /// The greatest number of objects that a to-many leads to; nil for no limit.
    public var maxCount: Int?
    /// The name that the relationship had in the previous version, when it was renamed.
    public var originalName: String?

    /// A relationship; optional and nullifying unless said otherwise.
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
