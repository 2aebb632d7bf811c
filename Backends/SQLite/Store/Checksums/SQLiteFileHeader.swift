#if SQLite
/// The header of a database file: https://sqlite.org/fileformat2.html#the_database_header
struct SQLiteFileHeader {
    static let size = 100
    /// The offset of the number of bytes that each page reserves.
    static let reservedOffset = 20

    let pageSize: Int
    let reserved: Int

    /// Creates the header from the first `size` or more bytes of a file; nil if they are not a header, as in an empty file.
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
