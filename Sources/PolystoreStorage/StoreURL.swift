/// The address of a store: `scheme:place?option=value&…`.
public struct StoreURL: Sendable, Hashable {
    /// The kind of store.
    public let scheme: String
    /// The text between the scheme and the question mark, percent-decoded except for PostgreSQL, whose library decodes it.
    public let place: String
    /// The options, in order of appearance.
    public let options: [Option]
    /// The original text.
    public let text: String

    /// One option of a store URL.
    public struct Option: Sendable, Hashable {
        /// The name of the option.
        public let name: String
        /// The value of the option, percent-decoded.
        public let value: String
    }

    init(scheme: String, place: String, options: [Option], text: String) {
        self.scheme = scheme
        self.place = place
        self.options = options
        self.text = text
    }

    /// Returns a URL with the same scheme and options but another location. The text does not change.
    package func moved(to place: String) -> StoreURL { StoreURL(scheme: scheme, place: place, options: options, text: text) }
}
