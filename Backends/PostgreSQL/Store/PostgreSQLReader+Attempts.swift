#if PostgreSQL
internal import PolystoreStorage

/// An attempt is a savepoint: the server refuses all statements of a transaction after one that has failed.
extension PostgreSQLReader: RecoveringReader {
    func beginAttempt() throws(StorageError) {
        try checkOpen()
        try connection.execute("SAVEPOINT polystore_attempt")
    }

    func endAttempt(hasFailed: Bool) throws(StorageError) {
        try checkOpen()
        if hasFailed { willRollBack() }
        // Of nested savepoints with the same name, the last one counts.
        try connection.execute("\(hasFailed ? "ROLLBACK TO SAVEPOINT polystore_attempt; " : "")RELEASE SAVEPOINT polystore_attempt")
    }
}
#endif
