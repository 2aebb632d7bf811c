#if SQLite
/// The checksum mode of a store's file.
///
/// The last 8 bytes of a page with a checksum are reserved for it, in the format of an extension of the engine:
/// https://sqlite.org/cksumvfs.html. The header of the file contains the number of reserved bytes.
enum SQLiteChecksums: Sendable {
    /// The file belongs to another program. Its pages are read and written unchanged.
    case ignored
    /// A file that has checksums keeps them. A new file gets none.
    case kept
    /// A new file gets checksums. A file without them is refused.
    case required

    /// The number of bytes that each page reserves for its checksum.
    static let size = 8
    /// The extended result code of a page that does not match its checksum: SQLITE_IOERR_DATA, a macro that Swift does not import.
    static let mismatch: Int32 = 10 | 32 << 8

    /// Returns the checksum of a page's contents: two sums over the 32-bit words, each of which also adds the other.
    static func checksum(of page: UnsafeRawPointer, size: Int) -> UInt64 {
        var first: UInt32 = 0, second: UInt32 = 0
        for offset in stride(from: 0, to: size - Self.size, by: 8) {
            first &+= UInt32(littleEndian: page.loadUnaligned(fromByteOffset: offset, as: UInt32.self)) &+ second
            second &+= UInt32(littleEndian: page.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)) &+ first
        }
        return UInt64(second) << 32 | UInt64(first)
    }

    /// Whether a page matches the checksum at its end.
    static func fits(_ page: UnsafeRawPointer, size: Int) -> Bool {
        let stored = UInt64(littleEndian: page.loadUnaligned(fromByteOffset: size - Self.size, as: UInt64.self))
        return stored == checksum(of: page, size: size)
    }
}
#endif
