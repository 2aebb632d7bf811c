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
