public import Polystore

extension ModelVersion {
    /// Returns the history of the versions with their stages, for a stack.
    public static func migrationManager() throws(StorageError) -> SchemaHistory { try history }
}
