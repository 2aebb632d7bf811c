#if SQLite
internal import Foundation
internal import PolystoreStorage

/// Bytes that Core Data may keep in files beside the database.
///
/// The first byte of a value says where they are: 1, they follow; 2, the name of a file follows, with a zero byte behind it.
enum SQLiteOutsideData {
    private static let mostBytes = 1_000_000_000

    /// The folder with the files of a database.
    static func folder(ofDatabase path: String) -> String {
        let url = URL(fileURLWithPath: path)
        let name = ".\(url.deletingPathExtension().lastPathComponent)_SUPPORT/_EXTERNAL_DATA"
        return url.deletingLastPathComponent().appendingPathComponent(name).path
    }

    /// The bytes of a value; nil where they are not there.
    static func data(_ bytes: UnsafeRawBufferPointer, _ folder: String?) -> Data? {
        guard let first = bytes.first else { return Data() }
        let rest = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
        switch first {
        case 1: return Data(rest)
        case 2:
            // Only a name that Core Data gives: a file must not be able to name any other.
            guard let folder, let text = String(utf8: UnsafeRawBufferPointer(rebasing: rest.prefix { $0 != 0 })),
                let id = UUID(uuidString: text)
            else { return nil }
            return file(URL(fileURLWithPath: folder).appendingPathComponent(id.uuidString))
        default: return nil
        }
    }

    private static func file(_ url: URL) -> Data? {
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: url.path),
            attributes[.type] as? FileAttributeType == .typeRegular, let size = attributes[.size] as? Int, size <= mostBytes
        else { return nil }
        return try? Data(contentsOf: url)
    }
}
#endif
