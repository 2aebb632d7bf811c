/// A store that forwards every call to another store, except for those that the conforming type implements.
///
/// An ability that the conforming type lacks is taken from the other store.
public protocol ForwardingStore: StorageInterface {
    /// The store that receives the forwarded calls.
    var base: any StorageInterface { get }
}

extension ForwardingStore {
    /// The configuration of the other store.
    public var configuration: String? { base.configuration }

    /// The capabilities of the other store.
    public var capabilities: StorageCapabilities { base.capabilities }

    /// Opens the other store.
    public func open(_ request: OpenRequest) throws(StorageError) -> StorageState { try base.open(request) }

    /// Begins a read session of the other store.
    public func beginRead(_ options: ReadOptions) throws(StorageError) -> any StorageReader { try base.beginRead(options) }

    /// Begins a write transaction of the other store.
    public func beginWrite(_ options: WriteOptions) throws(StorageError) -> any StorageWriter { try base.beginWrite(options) }

    /// Closes the other store.
    public func close() throws(StorageError) { try base.close() }

    /// Erases the other store.
    public func erase() throws(StorageError) { try base.erase() }
}

extension StorageInterface {
    /// Returns the store as a type with an ability, or else the nearest store in the forwarding chain that has it. Returns nil if none has
    /// it.
    public func ability<Ability>(_ type: Ability.Type) -> Ability? {
        self as? Ability ?? (self as? any ForwardingStore)?.base.ability(type)
    }
}
