/// A store that does what another one does, except for what its type says.
///
/// An ability that it does not have itself is that of the other store.
public protocol ForwardingStore: StorageInterface {
    /// The other store.
    var base: any StorageInterface { get }
}

extension ForwardingStore {
    /// That of the other store.
    public var configuration: String? { base.configuration }

    /// Those of the other store.
    public var capabilities: StorageCapabilities { base.capabilities }

    /// Opens the other store.
    public func open(_ request: OpenRequest) throws(StorageError) -> StorageState { try base.open(request) }

    /// Starts to read the other store.
    public func beginRead(_ options: ReadOptions) throws(StorageError) -> any StorageReader { try base.beginRead(options) }

    /// Starts to write to the other store.
    public func beginWrite(_ options: WriteOptions) throws(StorageError) -> any StorageWriter { try base.beginWrite(options) }

    /// Closes the other store.
    public func close() throws(StorageError) { try base.close() }

    /// Erases the other store.
    public func erase() throws(StorageError) { try base.erase() }
}

extension StorageInterface {
    /// The store as one with an ability, or the nearest that it forwards to; nil where none has it.
    public func ability<Ability>(_ type: Ability.Type) -> Ability? {
        self as? Ability ?? (self as? any ForwardingStore)?.base.ability(type)
    }
}
