#if PostgreSQL
internal import PolystoreSQL
internal import PolystoreStorage

extension PostgreSQLReader: StoredFormReader {
    private static let form = SQLStoredForm(
        type: { "format_type(pg_typeof(\($0))::oid, NULL)" },
        bytes: { name, isData in isData ? name : "convert_to(\(name)::text, 'UTF8')" })

    func storedRow(_ root: EntityIndex, key: Int64) throws(StorageError) -> [StoredColumn] {
        try storedRow(root, key: key, Self.form)
    }

    func storedEntries(after position: Int64, limit: Int) throws(StorageError) -> [StoredEntry] {
        try storedEntries(after: position, limit: limit, Self.form)
    }
}
#endif
