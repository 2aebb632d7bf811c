#if SQLite
internal import CSQLite
internal import PolystoreSQL
internal import PolystoreStorage

/// A digest of the words of texts, with their positions and the keys of their rows, that does not depend on the order of the words.
struct SQLiteWordDigest: Equatable {
    /// The maximum number of bytes of a word in the index: https://sqlite.org/fts5.html
    private static let longestWord = 32_768

    private var sum: UInt64 = 0
    private var count = 0

    /// Adds a word.
    mutating func add(_ word: UnsafeRawBufferPointer, key: Int64, position: Int64) {
        // FNV-1a, mixed with the place of the word.
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in word.prefix(Self.longestWord) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        for part in [UInt64(bitPattern: key), UInt64(bitPattern: position)] {
            hash = (hash ^ part) &* 0x9e37_79b9_7f4a_7c15
            hash ^= hash >> 29
        }
        sum &+= hash
        count += 1
    }

    /// Adds the words of a text, which have one space between them.
    mutating func add(words: UnsafeRawBufferPointer, key: Int64) {
        var position: Int64 = 0, start = 0
        while start < words.count {
            let end = words[start...].firstIndex(of: 0x20) ?? words.count
            add(UnsafeRawBufferPointer(rebasing: words[start..<end]), key: key, position: position)
            position += 1
            start = end + 1
        }
    }
}

extension SQLiteReader {
    /// Compares a full-text index with the texts of its table. Returns what is wrong with it, or nil.
    ///
    /// The index contains no texts, so that the engine's own check, which also would write to the file, cannot compare it with them.
    func wordFinding(_ index: SQLTables.IndexStatement) throws(StorageError) -> String? {
        let table = core.tables.table(index.root), column = index.columns.first ?? ""
        func rows(_ key: String, _ source: SQLText) throws(StorageError) -> [Value]? {
            try connection.rows(
                "SELECT count(*), COALESCE(sum(\(identifier: key) % 1000003), 0) FROM \(source)", [.int64, .int64]
            ).first
        }
        do throws(StorageError) {
            // https://sqlite.org/fts5.html#fts5_data_structures: one row for each indexed text.
            let indexed = try rows("id", "main.\(identifier: "\(index.name)_docsize")")
            if try indexed != rows("_id", "main.\(identifier: table) WHERE \(identifier: column) IS NOT NULL") {
                return "the index \(index.name) has other texts than the table"
            }
            let isSame = try indexedWords(index.name) == storedWords(table, column)
            return isSame ? nil : "the index \(index.name) has other words than the texts of the table"
        } catch  where [.corrupted, .notFound, .inputOutput].contains(error.code) {
            // The engine reports a missing part of the index as an error without a code of its own.
            return "the index \(index.name) cannot be read"
        }
    }

    private func indexedWords(_ index: String) throws(StorageError) -> SQLiteWordDigest {
        // https://sqlite.org/fts5.html#the_fts5vocab_virtual_table_module: a row for each occurrence of a word.
        let name = "temp.polystore_vocabulary"
        try connection.execute(
            "DROP TABLE IF EXISTS \(name); CREATE VIRTUAL TABLE \(name) USING fts5vocab('main', \(SQLText.quoted(index)), 'instance')")
        defer { try? connection.execute("DROP TABLE IF EXISTS \(name)") }
        var digest = SQLiteWordDigest()
        let statement = try SQLiteStatement("SELECT term, doc, \"offset\" FROM \(name)", connection)
        while try statement.step() {
            digest.add(
                SQLiteCells.cell(statement.handle, 0, .text).bytes, key: sqlite3_column_int64(statement.handle, 1),
                position: sqlite3_column_int64(statement.handle, 2))
        }
        return digest
    }

    private func storedWords(_ table: String, _ column: String) throws(StorageError) -> SQLiteWordDigest {
        var digest = SQLiteWordDigest()
        let name = SQLText.quoted(column)
        let statement = try SQLiteStatement(
            "SELECT \"_id\", polystore_words(\(name)) FROM \(Self.rows(of: table)) WHERE \(name) IS NOT NULL", connection)
        while try statement.step() {
            digest.add(words: SQLiteCells.cell(statement.handle, 1, .text).bytes, key: sqlite3_column_int64(statement.handle, 0))
        }
        return digest
    }
}
#endif
