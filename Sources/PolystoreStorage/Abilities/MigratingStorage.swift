/// A store that migrates what it keeps to another version of the model in place (capability `migrations`).
public protocol MigratingStorage: StorageInterface {
    /// Starts to migrate what the store keeps to another version of the model, alone among all writers.
    ///
    /// *Requires*: the store is open for writing, and no session of it is open in this process.
    ///
    /// *Behavior*: `schemaMismatch` when the store does not have the version that the step begins with, as when another program was first;
    /// `busy` after the options' timeout.
    func beginMigration(_ step: MigrationStep, _ options: WriteOptions) throws(StorageError) -> any StorageMigration

    /// What the store would do in a step, line by line, for people to read: statements where it has some. Nothing is changed.
    ///
    /// *Behavior*: `schemaMismatch` when the store would not have the version that the step begins with, after the steps before it.
    /// - Parameter earlier: The steps that are taken before, the first from what the store keeps.
    func explanation(of step: MigrationStep, after earlier: [MigrationStep]) throws(StorageError) -> [String]

    /// What a program says about steps between versions; asked in this order, before anything is inferred. None unless said otherwise.
    var migrationMappingProviders: [any SchemaMappingProvider] { get }
}

extension MigratingStorage {
    /// None.
    public var migrationMappingProviders: [any SchemaMappingProvider] { [] }
}

extension StorageInterface {
    /// Starts a migration; `unsupported` without the ability.
    public func beginMigration(_ step: MigrationStep, _ options: WriteOptions) throws(StorageError) -> any StorageMigration {
        guard let store = ability((any MigratingStorage).self) else {
            throw StorageError(
                .unsupported,
                "the store cannot go over to another version of the model in place (capability migrations): transfer it to a new one")
        }
        return try store.beginMigration(step, options)
    }

    /// What the store would do in a step; nothing without the ability.
    public func explanation(of step: MigrationStep, after earlier: [MigrationStep] = []) throws(StorageError) -> [String] {
        try ability((any MigratingStorage).self)?.explanation(of: step, after: earlier) ?? []
    }

    /// What a program says about steps between versions; nothing without the ability.
    public var migrationMappingProviders: [any SchemaMappingProvider] {
        ability((any MigratingStorage).self)?.migrationMappingProviders ?? []
    }
}
