/// A provider of the mapping from one version of a model to another. A program implements it where the mapping cannot be inferred from the
/// two schemas.
public protocol SchemaMappingProvider: Sendable {
    /// Returns the mapping of a step, or nil if this provider does not apply to it.
    ///
    /// - Throws: `noMigrationPath` or `invalidConfiguration` if the provider applies to the step but does not fit the schemas.
    func mapping(from source: Schema, to destination: Schema) throws(StorageError) -> MigrationMapping?
}
