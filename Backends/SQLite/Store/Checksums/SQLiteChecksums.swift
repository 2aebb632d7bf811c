#if SQLite
/// What a store does about checksums of the pages of its file.
///
/// A page with a checksum ends with 8 reserved bytes that hold it, in the format of an extension of the engine:
/// https://sqlite.org/cksumvfs.html. The header of the file tells how many bytes are reserved.
enum SQLiteChecksums: Sendable {
    /// The file belongs to another program: its pages are read and written as they are.
    case ignored
    /// A file that has checksums keeps them; a new file gets none.
    case kept
    /// A new file gets checksums; a file without them is refused.
    case required

    /// The bytes that each page reserves for its checksum.
    static let size = 8
    /// The extended result code of a page that does not fit its checksum: SQLITE_IOERR_DATA, a macro that Swift does not import.
    static let mismatch: Int32 = 10 | 32 << 8

    /// The checksum of a page's contents: two sums over the 32-bit words, each of which also adds the other.
    static func checksum(of page: UnsafeRawPointer, size: Int) -> UInt64 {
        var first: UInt32 = 0, second: UInt32 = 0
        for offset in stride(from: 0, to: size - Self.size, by: 8) {
            first &+= UInt32(littleEndian: page.loadUnaligned(fromByteOffset: offset, as: UInt32.self)) &+ second
            second &+= UInt32(littleEndian: page.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)) &+ first
        }
        return UInt64(second) << 32 | UInt64(first)
    }

    /// Whether a page fits the checksum at its end.
    static func fits(_ page: UnsafeRawPointer, size: Int) -> Bool {
        let stored = UInt64(littleEndian: page.loadUnaligned(fromByteOffset: size - Self.size, as: UInt64.self))
        return stored == checksum(of: page, size: size)
    }
}

/// The first bytes of a database file: https://sqlite.org/fileformat2.html#the_database_header
struct SQLiteFileHeader {
    static let size = 100
    /// Where the header tells how many bytes each page reserves.
    static let reservedOffset = 20

    let pageSize: Int
    let reserved: Int

    /// The header at the start of `bytes`, of which there are at least `size`; nil where it is none, as in an empty file.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= Self.size, bytes.starts(with: "SQLite format 3\0".utf8) else { return nil }
        let size = Int(bytes[16]) << 8 | Int(bytes[17])
        pageSize = size == 1 ? 65_536 : size
        reserved = Int(bytes[Self.reservedOffset])
    }

    /// Whether the pages have checksums.
    var hasChecksums: Bool { reserved == SQLiteChecksums.size && pageSize >= 512 }
}
#endif
