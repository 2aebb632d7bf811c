#if PostgreSQL
internal import PolystoreSQL
internal import PolystoreStorage

extension PostgreSQLWriter: RepairingWriter {
    func rebuildIndexes(of table: String) throws(StorageError) {
        try checkOpen()
        try flush()
        try connection.execute("REINDEX TABLE \(SQLText.quoted(self.table(named: table)))")
    }
}
#endif
