public import Foundation
public import PolystoreStorage

/// Which stores a stack has and which entities go where, in code or in a JSON file:
/// `{"stores": [{"url": "sqlite:main.db"}, {"url": "memory:", "configuration": "Cache"}]}`.
public struct StackConfiguration: Sendable, Hashable, Codable {
    /// One store of a stack.
    public struct Store: Sendable, Hashable, Codable {
        /// The store URL.
        public var url: String
        /// The configuration of the model whose entities the store keeps; nil for all entities.
        public var configuration: String?

        /// A store at a URL.
        public init(url: String, configuration: String? = nil) {
            self.url = url
            self.configuration = configuration
        }
    }

    /// The stores, in the order in which they are opened.
    public var stores: [Store]

    /// A configuration of stores.
    public init(stores: [Store]) { self.stores = stores }

    /// The configuration of a JSON text.
    ///
    /// - Throws: `invalidConfiguration` saying what is wrong with it.
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
