public import PolystoreStorage

extension SQLTables {
    /// The failure of a statement of ours that names a table or a column which is not there: nobody but somebody at the tables takes one away.
    ///
    /// - Parameter sentence: What the engine says of it; it names the table or the column, and no value.
    public static func changedByHand(_ sentence: String, _ cause: any Error) -> StorageError {
        StorageError(
            .corrupted, "the tables are not those of the model (\(sentence)): somebody has changed them by hand; restore a backup",
            cause: cause)
    }
}
