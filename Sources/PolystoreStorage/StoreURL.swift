/// Opens stores by URL; the catalog of backends implements it, and programs register stores of their own with it.
public protocol StoreOpener: Sendable {
    /// The schemes that can be opened.
    var schemes: [String] { get }

    /// The store that a URL names, not yet opened.
    func store(at url: StoreURL, configuration: String?) throws(StorageError) -> any StorageInterface
}

/// The address of a store: `scheme:place?option=value&…`.
public struct StoreURL: Sendable, Hashable {
    /// The kind of store.
    public let scheme: String
    /// What follows the scheme up to the question mark, percent-decoded except for PostgreSQL, whose library decodes it.
    public let place: String
    /// The options in order of appearance.
    public let options: [Option]
    /// The text as it was given.
    public let text: String

    /// One option of a store URL.
    public struct Option: Sendable, Hashable {
        /// The name.
        public let name: String
        /// The value, percent-decoded.
        public let value: String
    }

    init(scheme: String, place: String, options: [Option], text: String) {
        self.scheme = scheme
        self.place = place
        self.options = options
        self.text = text
    }

    /// The same kind of store with the same options at another place; the text stays.
    package func moved(to place: String) -> StoreURL { StoreURL(scheme: scheme, place: place, options: options, text: text) }
}
