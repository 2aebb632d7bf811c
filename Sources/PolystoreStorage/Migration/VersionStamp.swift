/// A renaming of the version of a store's schema. Nothing else changes: the hash remains the same, and no row is touched.
package struct VersionStamp: Sendable {
    /// The new name of the version.
    package let version: String

    /// Creates a renaming to `version`.
    package init(_ version: String) { self.version = version }

    /// Returns the schema under the new name.
    package func renamed(_ schema: Schema) throws(StorageError) -> Schema {
        do throws(SchemaError) {
            return try Schema(version: version, entities: schema.entities, configurations: schema.configurations)
        } catch {
            throw StorageError(error)
        }
    }

    /// Renames the version of a store that is open for writing and has no open session. Afterwards the store is open under the new name.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - timeout: The number of seconds to wait for other writers.
    /// - Returns: The schema under the new name.
    /// - Throws: `schemaMismatch` if another program has migrated the store to another schema; the errors of `beginMigration`.
    @discardableResult
    package func apply(
        to store: OpenStore, timeout: Double = 30
    ) throws(StorageError) -> Schema {
        let mapping = SchemaMapping(from: store.schema, to: try renamed(store.schema))
        let migration = try store.beginMigration(MigrationStep(mapping), WriteOptions(timeout: timeout))
        defer { migration.end() }
        _ = try migration.prepare()
        // Keys do not change, so no counter is needed.
        try migration.finish(try MigrationKeys(mapping) { _ in 1 }, limits: [:])
        _ = try migration.commit(CommitRecord())
        return mapping.destination
    }
}
