internal import PolystoreStorage

/// The parameters for opening an engine.
public struct OrderedOpen: Sendable {
    /// Whether a store that does not exist is created.
    public var create: Bool
    /// Whether the engine refuses changes.
    public var readOnly: Bool
    /// The number of maps that the store will have.
    public var mapCount: Int

    /// Creates a request.
    public init(create: Bool, readOnly: Bool, mapCount: Int) {
        self.create = create
        self.readOnly = readOnly
        self.mapCount = mapCount
    }
}
