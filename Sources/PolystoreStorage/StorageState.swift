public import PolystoreFoundation

/// The state of a store, as found at `open`.
public struct StorageState: Sendable {
    /// The identity of the store, assigned when it was created.
    public let storeID: UUID
    /// The stored schema.
    public let schema: Schema
    /// The version of the on-disk format.
    public let formatVersion: Int
    /// Whether this `open` created the store.
    public let wasCreated: Bool
    /// Whether the store refuses changes, either because of the request or because of the store itself.
    public internal(set) var isReadOnly: Bool

    /// Creates a state.
    public init(storeID: UUID, schema: Schema, formatVersion: Int, wasCreated: Bool, isReadOnly: Bool = false) {
        self.storeID = storeID
        self.schema = schema
        self.formatVersion = formatVersion
        self.wasCreated = wasCreated
        self.isReadOnly = isReadOnly
    }
}
