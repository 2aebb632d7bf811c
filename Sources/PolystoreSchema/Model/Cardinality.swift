/// The number of destinations of a relationship.
public enum Cardinality: String, Sendable, Hashable, Codable {
    /// At most one.
    case toOne
    /// A set.
    case toMany
    /// A list without duplicates, whose order is part of the data.
    case toManyOrdered
}
