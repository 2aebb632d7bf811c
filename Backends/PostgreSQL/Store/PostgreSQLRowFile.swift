#if PostgreSQL
internal import CLibPQ
internal import PolystoreFoundation
internal import PolystoreStorage

/// A temporary file without a name that holds rows of one statement.
final class PostgreSQLRowFile {
    private let file: UnsafeMutablePointer<FILE>
    /// A result without rows that has the columns of the statement.
    private let columns: PostgreSQLResult

    /// Creates a file for rows with the columns of a result; nil where no temporary file can be created.
    init?(_ result: PostgreSQLResult) {
        guard let columns = PQcopyResult(result.handle, PG_COPYRES_ATTRS) else { return nil }
        self.columns = PostgreSQLResult(columns, oids: result.oids)
        guard let file = Self.create() else { return nil }
        self.file = file
    }

    /// Creates a file in the folder that `TMPDIR` names, without a name there and closed in programs that this one starts.
    private static func create() -> UnsafeMutablePointer<FILE>? {
        StandardStreams.reserve()
        var path = FileManager.default.temporaryDirectory.appendingPathComponent("polystore.XXXXXX").path.utf8CString.map { $0 }
        let descriptor = mkstemp(&path)
        if descriptor < 0 { return nil }
        unlink(path)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        guard let file = fdopen(descriptor, "w+") else {
            close(descriptor)
            return nil
        }
        return file
    }

    deinit { fclose(file) }

    /// Adds the row of a result: the length of each field, or -1 for NULL, and its bytes. Returns its place; nil if the file cannot take it.
    func add(_ row: PostgreSQLResult) -> Int? {
        guard fseek(file, 0, SEEK_END) == 0 else { return nil }
        let place = ftell(file)
        guard place >= 0 else { return nil }
        for column in columns.oids.indices {
            let bytes = row.bytes(0, column)
            var length = Int32(bytes?.count ?? -1)
            guard fwrite(&length, MemoryLayout<Int32>.size, 1, file) == 1 else { return nil }
            if let bytes, bytes.count > 0, fwrite(bytes.baseAddress, bytes.count, 1, file) != 1 { return nil }
        }
        return fflush(file) == 0 ? place : nil
    }

    /// Returns the row at a place.
    ///
    /// - Throws: `inputOutput` if it cannot be read.
    func row(at place: Int) throws(StorageError) -> PostgreSQLResult {
        let row = PostgreSQLResult(PQcopyResult(columns.handle, PG_COPYRES_ATTRS), oids: columns.oids)
        var field: [CChar] = []
        var isRead = fseek(file, place, SEEK_SET) == 0
        for column in columns.oids.indices where isRead {
            var length: Int32 = 0
            isRead = fread(&length, MemoryLayout<Int32>.size, 1, file) == 1
            let count = Int(max(length, 0))
            if field.count < count { field = [CChar](repeating: 0, count: count) }
            isRead = isRead && (count == 0 || fread(&field, count, 1, file) == 1)
            isRead = isRead && PQsetvalue(row.handle, 0, Int32(column), &field, length) == 1
        }
        if isRead { return row }
        throw StorageError(.inputOutput, "rows that were kept in a temporary file cannot be read: \(String(cString: strerror(errno)))")
    }
}
#endif
