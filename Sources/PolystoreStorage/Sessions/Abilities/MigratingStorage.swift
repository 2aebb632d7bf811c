/// A store that migrates its data to another version of the model in place (capability `migrations`).
public protocol MigratingStorage: StorageInterface {
    /// Begins to migrate the data to another version of the model, with exclusive access among all writers.
    ///
    /// *Requires*: the store is open for writing, and no session of it is open in this process.
    ///
    /// *Behavior*: throws `schemaMismatch` if the stored version is not the one at which the step starts, for example because another
    /// program has migrated the store first; `busy` after the timeout of the options.
    func beginMigration(_ step: MigrationStep, _ options: WriteOptions) throws(StorageError) -> any StorageMigration

    /// Returns a readable description, line by line, of the work that the store would do in a migration step, with statements where the
    /// store executes some. Changes nothing.
    ///
    /// *Behavior*: throws `schemaMismatch` if, after the earlier steps, the store would not have the version at which the step starts.
    /// - Parameter earlier: The preceding steps. The first one starts at the stored version.
    func explanation(of step: MigrationStep, after earlier: [MigrationStep]) throws(StorageError) -> [String]

    /// The program's own mappings between versions. They are consulted in this order, before a mapping is inferred. Empty by default.
    var migrationMappingProviders: [any SchemaMappingProvider] { get }
}

extension MigratingStorage {
    /// An empty list.
    public var migrationMappingProviders: [any SchemaMappingProvider] { [] }
}

extension StorageError {
    /// The error of migrating a store that lacks the capability `migrations`.
    package static let lacksMigrations = StorageError(
        .unsupported,
        "the store cannot be migrated in place (it lacks the capability migrations): transfer it to a new store; tables of another program "
            + "are changed by the program that owns them")
}

extension OpenStore {
    /// Begins to migrate the data to another version of the model, with exclusive access among all writers.
    ///
    /// The store must be open for writing, and no session of it may be open in this process.
    /// - Throws: `schemaMismatch` if the stored version is not the one at which the step starts, for example because another program has
    ///   migrated the store first; `busy` after the timeout of the options; `unsupported` without the capability `migrations`; `storeMoved`
    ///   if the objects of the store have been moved to another store, or are being moved.
    package func beginMigration(_ step: MigrationStep, _ options: WriteOptions) throws(StorageError) -> MigrationSession {
        try checkWritable()
        guard capabilities.contains(.migrations), let migrating else {
            throw StorageError.lacksMigrations
        }
        let migration = try migrating.beginMigration(step, options)
        if checksMoves != nil {
            do throws(StorageError) { try MoveNote.refuse(migration.source.note(MoveNote.name)) } catch {
                migration.end()
                throw error
            }
        }
        return MigrationSession(migration, step.mapping, of: self)
    }

    /// Returns a readable description, line by line, of the work that the store would do in a migration step. Changes nothing.
    ///
    /// - Parameter earlier: The preceding steps. The first one starts at the stored version.
    /// - Throws: `schemaMismatch` if, after the earlier steps, the store would not have the version at which the step starts.
    public func explanation(of step: MigrationStep, after earlier: [MigrationStep] = []) throws(StorageError) -> [String] {
        try checkOpen()
        return try migrating?.explanation(of: step, after: earlier) ?? []
    }

    /// The program's own mappings between versions. They are consulted in this order, before a mapping is inferred.
    public var migrationMappingProviders: [any SchemaMappingProvider] { migrating?.migrationMappingProviders ?? [] }
}
