internal import PolystoreStorage

/// The migrations that may be run when a store is added.
enum AllowedMigrations {
    /// Migrations that can be inferred from the schemas, if the store's options allow them while the caller waits.
    case synchronous
    /// All migrations.
    case all(MigrationProgress)
}
