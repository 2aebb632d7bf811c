/// The actions that a stack may take if a store in a file does not fit its model.
public struct LocalStorageOptions: OptionSet, Sendable, Hashable {
    /// The bits of the option set.
    public let rawValue: Int

    /// Creates options from bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// If no migration path exists, discards all data of the file and creates an empty store of the new model.
    public static let recreateStoreOnModelMismatch = LocalStorageOptions(rawValue: 1 << 0)
    /// Allows an inferred migration to run while `addStorageAndWait` waits.
    public static let allowSynchronousLightweightMigration = LocalStorageOptions(rawValue: 1 << 1)
}
