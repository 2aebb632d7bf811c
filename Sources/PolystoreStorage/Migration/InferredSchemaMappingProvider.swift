/// A provider of the mapping that is inferred from the two schemas. Every store falls back to it.
public struct InferredSchemaMappingProvider: SchemaMappingProvider {
    /// Whether the destination preceded the source.
    private let isReturning: Bool

    /// Creates a provider.
    public init() { self.init(isReturning: false) }

    /// Creates a provider of mappings to a newer version, or back to an earlier one.
    package init(isReturning: Bool) { self.isReturning = isReturning }

    /// Returns the mapping that is inferred from the two schemas.
    ///
    /// - Throws: `noMigrationPath`, which names the first change that requires a decision.
    public func mapping(from source: Schema, to destination: Schema) throws(StorageError) -> MigrationMapping? {
        try inferred(from: source, to: destination)
    }

    /// Returns the same mapping, which always exists if it can be inferred.
    ///
    /// - Parameter exceptAdditions: Whether work of the program after the step gives values to new properties.
    package func inferred(
        from source: Schema, to destination: Schema, exceptAdditions: Bool = false
    ) throws(StorageError) -> MigrationMapping {
        let mapping = MigrationMapping(
            isReturning ? SchemaMapping(from: source, backTo: destination) : SchemaMapping(from: source, to: destination))
        try mapping.check(exceptAdditions: exceptAdditions)
        return mapping
    }
}
