#if SQLite
internal import PolystoreSQL
internal import PolystoreStorage

extension SQLiteReader: StoredFormReader {
    /// A text as bytes is the text in the encoding of the file, whatever its bytes are, and a number is its digits.
    private static let form = SQLStoredForm(type: { "typeof(\($0))" }, bytes: { name, _ in "CAST(\(name) AS BLOB)" })

    func storedRow(_ root: EntityIndex, key: Int64) throws(StorageError) -> [StoredColumn] {
        try storedRow(root, key: key, Self.form)
    }

    func storedEntries(after position: Int64, limit: Int) throws(StorageError) -> [StoredEntry] {
        try storedEntries(after: position, limit: limit, Self.form)
    }
}
#endif
