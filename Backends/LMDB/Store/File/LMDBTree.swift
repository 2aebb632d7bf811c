#if LMDB
internal import PolystoreStorage

/// The root of a tree (`MDB_db` in mdb.c): 48 bytes.
struct LMDBTree: Equatable {
    static let bytes = 48
    private static let noPage = UInt64.max
    private static let deepest = 32

    let flags: UInt16
    let depth: Int
    let entries: UInt64
    /// The root page; nil for a tree without entries.
    let root: UInt64?

    init(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
        flags = UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt16.self))
        depth = Int(UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: offset + 6, as: UInt16.self)))
        entries = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset + 32, as: UInt64.self))
        let page = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset + 40, as: UInt64.self))
        root = page == Self.noPage ? nil : page
    }

    /// Whether depth, entries and root are consistent.
    var isPlausible: Bool { root == nil ? depth == 0 && entries == 0 : depth > 0 && depth <= Self.deepest && entries > 0 }
}
#endif
