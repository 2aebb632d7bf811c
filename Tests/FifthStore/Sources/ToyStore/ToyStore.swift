import PolystoreCatalog
import PolystoreInMemory
import PolystoreStorage

/// A store of somebody else: it leaves everything to the memory store, abilities included.
public final class ToyStore: ForwardingStore {
    /// `toy`.
    public static let storeType = "toy"
    /// The memory store.
    public let base: any StorageInterface

    /// The store of a URL.
    public init(url: StoreURL, configuration: String?) { base = InMemoryStore(configuration: configuration) }
}

extension StoreCatalog {
    /// The stores of Polystore and this one.
    public static var withToy: StoreCatalog {
        var catalog = StoreCatalog.standard
        catalog.register(scheme: "toy") { url, configuration in ToyStore(url: url, configuration: configuration) }
        return catalog
    }
}
