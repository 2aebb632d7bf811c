package import PolystoreStorage

extension SQLTables {
    /// Returns the error for a Polystore statement that names a missing table or column, which only a manual change of the tables can have
    /// removed.
    ///
    /// - Parameter sentence: The engine's message, which names the table or the column but no value.
    package static func changedByHand(_ sentence: String, _ cause: any Error) -> StorageError {
        StorageError(
            .corrupted,
            "the tables do not match the model (\(sentence)): they were changed outside of Polystore; restore the database from a backup",
            cause: cause)
    }
}
