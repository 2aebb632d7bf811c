/// The actions that a stack may take if a store in a file does not fit its model.
public struct LocalStorageOptions: OptionSet, Sendable, Hashable {
    /// The bits of the option set.
    public let rawValue: Int

    /// Creates options from bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// If a store cannot be migrated, discards all data of the file and creates an empty store of the new model.
    ///
    /// A store is migrated if it can be: `addStorage` runs every step, `addStorageAndWait` those that can be inferred from the schemas. Since
    /// the option accepts the loss of all data, these steps may lose the values of removed entities and properties. The store is recreated if
    /// no migration path exists, also because a newer version of the program has migrated it, and if its objects violate a rule of the new
    /// model after steps without code of the program. Other errors, such as a full disk, and those of a step in which the program takes part,
    /// do not change it.
    public static let recreateStoreOnModelMismatch = LocalStorageOptions(rawValue: 1 << 0)
    /// Allows an inferred migration to run while `addStorageAndWait` waits.
    public static let allowSynchronousLightweightMigration = LocalStorageOptions(rawValue: 1 << 1)
}
