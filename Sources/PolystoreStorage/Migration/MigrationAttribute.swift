/// An attribute in the API of transformers.
///
/// It stands for the attribute of its name. In an object of another entity or of the other version it is the attribute that has this name
/// there; an object without one ends the step with `invalidPredicate`.
public struct MigrationAttribute: Sendable, Hashable {
    /// The stored name.
    public let name: String
    /// The type.
    public let type: ValueType
    /// The slot in the entity from which the attribute comes.
    let slot: Int
}
