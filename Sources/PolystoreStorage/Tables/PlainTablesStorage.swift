/// A store whose engine can make the tables of a schema as a person would declare them in SQL. The store is not open meanwhile.
package protocol PlainTablesStorage: StorageInterface {
    /// Returns the tables of a schema. Reads and writes nothing.
    func plainTables(_ schema: Schema) -> PlainTables

    /// Returns why the tables cannot be made in the database; nil if nothing prevents it. Only reads.
    ///
    /// - Throws: Errors that say nothing about the target, such as a lost connection.
    func obstacle(to tables: PlainTables) throws(StorageError) -> StorageError?

    /// Makes the tables in a transaction of a new connection, which also creates the database if it is a file that does not exist.
    ///
    /// - Parameter losses: The names of losses that are accepted. The columns with such a name store the nearest values.
    /// - Throws: The obstacle, if there is one.
    func beginTables(
        _ tables: PlainTables, accepting losses: Set<String>, _ options: WriteOptions
    ) throws(StorageError) -> any PlainTablesWriter
}
