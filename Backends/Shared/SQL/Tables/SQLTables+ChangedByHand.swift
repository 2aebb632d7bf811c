package import PolystoreStorage

extension SQLTables {
    /// Returns the error for a Polystore statement that names a missing table or column, which only a manual change of the tables can have
    /// removed.
    ///
    /// - Parameter sentence: The engine's message, which names the table or the column but no value.
    package static func changedByHand(_ sentence: String, _ cause: any Error) -> StorageError {
        StorageError(
            .corrupted, "the tables are not those of the model (\(sentence)): somebody has changed them by hand; restore a backup",
            cause: cause)
    }
}
