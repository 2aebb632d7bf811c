package import PolystoreFoundation

/// The options with which a store is opened.
public struct OpenRequest: Sendable {
    /// The requested schema. Nil opens whatever schema is stored and creates nothing.
    public var schema: Schema?
    /// Whether a missing store is created.
    public var createIfMissing: Bool
    /// Whether changes are refused with `readOnly`. `OpenStore`, the layer above, refuses them.
    public var readOnly: Bool
    /// Whether a store is opened that contains an incomplete copy of another store. `OpenStore`, the layer above, refuses it otherwise.
    package var acceptsIncompleteCopy = false
    /// Whether a new store needs positions for the history of another store before those of its own transactions.
    package var leavesRoomForHistory = false
    /// The notes of a new store, by name. They are written by the transaction that creates it.
    package var notes: [String: Data] = [:]

    /// Creates a request. By default the store accepts reads and writes and is created if it is missing.
    public init(schema: Schema?, createIfMissing: Bool = true, readOnly: Bool = false) {
        self.schema = schema
        self.createIfMissing = createIfMissing
        self.readOnly = readOnly
    }
}
