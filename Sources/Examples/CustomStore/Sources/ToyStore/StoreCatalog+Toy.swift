public import PolystoreCatalog

extension StoreCatalog {
    /// The stores of Polystore and this one.
    public static var withToy: StoreCatalog {
        var catalog = StoreCatalog.standard
        catalog.register(scheme: "toy") { _, configuration in ToyStore(configuration: configuration) }
        return catalog
    }
}
