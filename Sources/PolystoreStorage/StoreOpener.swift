/// Opens stores by URL. The store registry of backends conforms to this protocol, and programs register their own stores with it.
public protocol StoreOpener: Sendable {
    /// The schemes that the opener supports.
    var schemes: [String] { get }

    /// Returns the store at a URL, not yet opened.
    func store(at url: StoreURL, configuration: String?) throws(StorageError) -> any StorageInterface
}
