/// Gives the schema that a store keeps another version name, and changes nothing else: the hash stays, and no row is touched.
public struct VersionStamp: Sendable {
    /// The new name of the version.
    public let version: String

    /// A stamp.
    public init(_ version: String) { self.version = version }

    /// The schema under the new name.
    public func renamed(_ schema: Schema) throws(StorageError) -> Schema {
        do throws(SchemaError) {
            return try Schema(version: version, entities: schema.entities, configurations: schema.configurations)
        } catch {
            throw StorageError(error)
        }
    }

    /// Stamps a store that is open for writing, without any session; it is open under the new name then.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - timeout: Seconds to wait for other writers.
    /// - Returns: The schema under the new name.
    /// - Throws: `schemaMismatch` where another program has led the store to another schema; what `beginMigration` throws.
    @discardableResult
    public func apply(
        to store: OpenStore, timeout: Double = 30
    ) throws(StorageError) -> Schema {
        let mapping = SchemaMapping(from: store.schema, to: try renamed(store.schema))
        let migration = try store.beginMigration(MigrationStep(mapping), WriteOptions(timeout: timeout))
        defer { migration.end() }
        _ = try migration.prepare()
        // Every key stays, so no counter is asked.
        try migration.finish(try MigrationKeys(mapping) { _ in 1 }, limits: [:])
        _ = try migration.commit(CommitRecord())
        return mapping.destination
    }
}
