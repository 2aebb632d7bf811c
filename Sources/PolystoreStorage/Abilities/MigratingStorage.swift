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

extension OpenStore {
    /// Starts to migrate what the store keeps to another version of the model, alone among all writers.
    ///
    /// The store is open for writing, and no session of it is open in this process.
    /// - Throws: `schemaMismatch` when the store does not have the version that the step begins with, as when another program was first;
    ///   `busy` after the options' timeout; `unsupported` without the capability `migrations`.
    public func beginMigration(_ step: MigrationStep, _ options: WriteOptions) throws(StorageError) -> MigrationSession {
        try checkWritable()
        guard capabilities.contains(.migrations), let migrating else {
            throw StorageError(
                .unsupported,
                "the store cannot be migrated in place (capability migrations): transfer it to a new one; tables that another program made are "
                    + "changed by their owner")
        }
        return MigrationSession(try migrating.beginMigration(step, options), step.mapping, of: self)
    }

    /// What the store would do in a step, line by line, for people to read. Nothing is changed.
    ///
    /// - Parameter earlier: The steps that are taken before, the first from what the store keeps.
    /// - Throws: `schemaMismatch` when the store would not have the version that the step begins with, after the steps before it.
    public func explanation(of step: MigrationStep, after earlier: [MigrationStep] = []) throws(StorageError) -> [String] {
        try checkOpen()
        return try migrating?.explanation(of: step, after: earlier) ?? []
    }

    /// What a program says about steps between versions; asked in this order, before anything is inferred.
    public var migrationMappingProviders: [any SchemaMappingProvider] { migrating?.migrationMappingProviders ?? [] }
}
