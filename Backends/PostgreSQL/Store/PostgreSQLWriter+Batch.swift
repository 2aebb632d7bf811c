#if PostgreSQL
internal import PolystoreSQL
internal import PolystoreStorage

extension PostgreSQLWriter {
    func change(_ entity: EntityIndex, _ text: SQLText, _ body: (Int64, Int64?) -> Void) throws(StorageError) {
        let isHierarchy = core.tables.schema[entity].isHierarchy, result = try connection.query(text)
        for row in 0..<result.count {
            if let key = result.integer(row, 0) { body(key, isHierarchy ? result.integer(row, 1) : nil) }
        }
    }
}
#endif
