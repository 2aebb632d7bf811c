public import PolystoreFoundation
public import PolystoreStorage

/// The stores of a stack and the entities of each, in code or in a JSON file: `{"stores": [{"url": "sqlite:main.db"}, {"url": "memory:",
/// "configuration": "Cache"}]}`.
public struct StackConfiguration: Sendable, Hashable, Codable {
    /// One store of a stack.
    public struct Store: Sendable, Hashable, Codable {
        /// The store URL.
        public var url: String
        /// The configuration of the model that contains the entities of the store; nil for all entities.
        public var configuration: String?

        /// Creates a description of a store.
        public init(url: String, configuration: String? = nil) {
            self.url = url
            self.configuration = configuration
        }
    }

    /// The stores, in the order in which they are opened.
    public var stores: [Store]

    /// Creates a configuration from a list of stores.
    public init(stores: [Store]) { self.stores = stores }

    /// Decodes a configuration from JSON.
    ///
    /// - Throws: `invalidConfiguration` if the JSON does not have the expected form.
    public init(json: Data) throws(StorageError) {
        do {
            self = try JSONDecoder().decode(Self.self, from: json)
        } catch {
            throw StorageError(
                .invalidConfiguration, "the stack configuration is not of the form {\"stores\": [{\"url\": …, \"configuration\": …}]}",
                cause: error)
        }
    }
}
