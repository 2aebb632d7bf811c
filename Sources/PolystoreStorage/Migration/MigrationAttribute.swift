/// An attribute in the API of transformers.
public struct MigrationAttribute: Sendable, Hashable {
    /// The stored name.
    public let name: String
    /// The type.
    public let type: ValueType
    let slot: Int
}
