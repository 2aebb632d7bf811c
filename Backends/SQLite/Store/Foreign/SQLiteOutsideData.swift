#if SQLite
internal import PolystoreFoundation
internal import PolystoreStorage

/// Data that Core Data may store in files beside the database.
///
/// The first byte of a value is 1 if the data follows, and 2 if the name of a file follows, terminated by a zero byte.
enum SQLiteOutsideData {
    private static let mostBytes = 1_000_000_000

    /// Returns the folder of the data files of a database.
    static func folder(ofDatabase path: String) -> String {
        let url = URL(fileURLWithPath: path)
        let name = ".\(url.deletingPathExtension().lastPathComponent)_SUPPORT/_EXTERNAL_DATA"
        return url.deletingLastPathComponent().appendingPathComponent(name).path
    }

    /// Returns the data of a value, or nil where it is missing.
    static func data(_ bytes: UnsafeRawBufferPointer, _ folder: String?) -> Data? {
        guard let first = bytes.first else { return Data() }
        let rest = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
        switch first {
        case 1: return Data(rest)
        case 2:
            // Only names that Core Data generates are accepted: the database must not be able to name any other file.
            guard let folder, let text = String(utf8: UnsafeRawBufferPointer(rebasing: rest.prefix { $0 != 0 })),
                let id = UUID(uuidString: text)
            else { return nil }
            return file(URL(fileURLWithPath: folder).appendingPathComponent(id.uuidString))
        default: return nil
        }
    }

    private static func file(_ url: URL) -> Data? {
        var status = stat()
        guard lstat(url.path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= mostBytes else { return nil }
        return try? Data(contentsOf: url)
    }
}
#endif
