#if LMDB
/// The bytes of a tree page (`MDB_page` and `MDB_node` in mdb.c), read within its bounds: number (8), padding (2), flags (2), end of the
/// list of offsets (2), begin of the nodes (2), the offsets of the nodes (2 each), in the order of their keys.
struct LMDBPage {
    enum Kind: UInt16 {
        case branch = 1, leaf = 2, overflow = 4
    }

    /// An entry of a page: the lower and upper half of a size or a page (2 each), flags (2), size of the key (2), key, value.
    struct Node {
        /// Flags of a node in a leaf.
        static let isLarge: UInt16 = 1, isTree: UInt16 = 2, hasDuplicates: UInt16 = 4

        let key: ArraySlice<UInt8>
        let flags: UInt16
        /// The child page of a branch node.
        let child: UInt64
        /// The size of a value.
        let size: Int
        /// The offset of the value in the page, or the number of its first page.
        let value: Int
    }

    static let header = 16
    private static let nodeHeader = 8, longestKey = 511

    let bytes: [UInt8]

    var number: UInt64 { UInt64(littleEndian: bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }) }
    var kind: Kind? { Kind(rawValue: word(10)) }
    private var lower: Int { Int(word(12)) }
    private var upper: Int { Int(word(14)) }
    /// The number of pages of a large value.
    var length: UInt64 { UInt64(word(12)) | UInt64(word(14)) << 16 }

    /// The number of nodes; nil if the bounds are inconsistent.
    var count: Int? {
        guard lower >= Self.header, lower % 2 == 0, lower <= upper, upper <= bytes.count else { return nil }
        return (lower - Self.header) / 2
    }

    private func word(_ offset: Int) -> UInt16 { UInt16(bytes[offset]) | UInt16(bytes[offset + 1]) << 8 }

    /// Returns a node, or nil if it is not within the page.
    ///
    /// *Requires*: `index` is below `count`.
    func node(_ index: Int, _ kind: Kind) -> Node? {
        let start = Int(word(Self.header + 2 * index))
        guard start >= upper, start % 2 == 0, start + Self.nodeHeader <= bytes.count else { return nil }
        let low = word(start), high = word(start + 2), flags = word(start + 4), keySize = Int(word(start + 6))
        let value = start + Self.nodeHeader + keySize, size = Int(low) | Int(high) << 16
        guard keySize <= Self.longestKey, value <= bytes.count else { return nil }
        if kind == .leaf {
            let inPage = flags & Node.isLarge == 0 ? size : 8
            guard keySize > 0, flags <= 7, value + inPage <= bytes.count else { return nil }
        }
        return Node(
            key: bytes[(start + Self.nodeHeader)..<value], flags: flags,
            child: UInt64(low) | UInt64(high) << 16 | UInt64(flags) << 32, size: size, value: value)
    }

    /// Returns eight bytes of a value as a number.
    func long(_ offset: Int) -> UInt64 {
        bytes.withUnsafeBytes { UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) }
    }
}
#endif
