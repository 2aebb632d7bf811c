/// A provider of the mapping that is inferred from the two schemas. Every store falls back to it.
public struct InferredSchemaMappingProvider: SchemaMappingProvider {
    /// Creates a provider.
    public init() {}

    /// Returns the mapping that is inferred from the two schemas.
    ///
    /// - Throws: `noMigrationPath`, which names the first change that requires a decision.
    public func mapping(from source: Schema, to destination: Schema) throws(StorageError) -> MigrationMapping? {
        let mapping = MigrationMapping(SchemaMapping(from: source, to: destination))
        try mapping.check()
        return mapping
    }
}
