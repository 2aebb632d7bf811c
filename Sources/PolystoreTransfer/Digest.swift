public import PolystoreStorage

/// A 128-bit digest of a set of rows that does not depend on their order: the sum, modulo 2^128, of a hash of each row.
///
/// The hash mixes a canonical encoding, which is equal in every store, by multiplication, with the constants of wyhash (Wang Yi). It
/// detects accidental damage but does not protect against an adversary. The digest uses a sum because exclusive or would cancel pairs of
/// equal rows.
public struct Digest: Sendable, Hashable, CustomStringConvertible {
    private var sum: UInt128 = 0
    /// The number of rows.
    public private(set) var count = 0

    /// Creates the digest of an empty set.
    public init() {}

    /// Creates the digest of bytes, as of one row.
    package init(of bytes: UnsafeRawBufferPointer) { add(bytes) }

    /// Creates the digest of `count` rows from its description; nil if that is not the description of a digest.
    init?(_ description: String, count: Int) {
        guard count >= 0, description.utf8.count == 32, let sum = UInt128(description, radix: 16) else { return nil }
        self.sum = sum
        self.count = count
    }

    /// The digest as thirty-two hexadecimal digits.
    public var description: String {
        let digits = String(sum, radix: 16)
        return String(repeating: "0", count: 32 - digits.count) + digits
    }

    /// Adds a row: its key, entity, attributes, and to-one keys, but not its version.
    public mutating func add(_ row: borrowing RowView, entityName: UInt64, slots: Int) {
        var hash = RowHash(entityName)
        hash.mix(UInt64(bitPattern: row.key))
        for slot in 0..<slots { hash.mix(row[slot]) }
        sum &+= hash.value
        count += 1
    }

    /// Adds the rows of another digest.
    mutating func add(_ other: Digest) {
        sum &+= other.sum
        count += other.count
    }

    /// Returns the digest of the rows that were added since this was an earlier digest.
    func added(since earlier: Digest) -> Digest {
        var added = self
        added.sum &-= earlier.sum
        added.count -= earlier.count
        return added
    }

    /// Adds bytes as a row.
    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        var hash = RowHash(UInt64(bytes.count))
        hash.mix(bytes)
        sum &+= hash.value
        count += 1
    }

    /// Adds a pair of a link table: both keys, and the position if the relationship is ordered.
    public mutating func add(_ link: LinkPair, position: Int) {
        var hash = RowHash(0x6c69_6e6b)
        hash.mix(UInt64(bitPattern: link.owner))
        hash.mix(UInt64(bitPattern: link.member))
        hash.mix(UInt64(truncatingIfNeeded: position))
        sum &+= hash.value
        count += 1
    }

    /// Returns a number for a name, which makes the entity of a row part of its hash.
    public static func number(of name: String) -> UInt64 { SchemaHash(of: name).words[0] }
}

/// A hash with two lanes of 64 bits. Each word is mixed into both lanes with different multipliers.
private struct RowHash {
    private var a: UInt64
    private var b: UInt64

    init(_ seed: UInt64) {
        a = seed ^ 0x9e37_79b9_7f4a_7c15
        b = seed &* 0xd6e8_feb8_6659_fd93 ^ 0xbf58_476d_1ce4_e5b9
    }

    @inline(__always)
    mutating func mix(_ word: UInt64) {
        let x = (a ^ word).multipliedFullWidth(by: 0xa076_1d64_78bd_642f)
        a = x.high ^ x.low
        let y = (b &+ word).multipliedFullWidth(by: 0xe703_7ed1_a0b4_28db)
        b = (y.high &+ 0x8ebc_6af0_9c88_c6e3) ^ y.low
    }

    /// Mixes the kind, length, and bytes of a cell, so that nil, an empty string, and zero have different hashes.
    @inline(__always)
    mutating func mix(_ cell: Cell) {
        switch cell.kind {
        case .null: mix(0x6e69_6c00)
        case .int, .real: mix(cell.bits &+ UInt64(cell.kind.rawValue) &<< 56)
        case .text, .blob:
            let bytes = cell.bytes
            mix(UInt64(bytes.count) | UInt64(cell.kind.rawValue) &<< 56)
            if !bytes.isEmpty { mix(bytes) }
        }
    }

    /// Mixes bytes, but not their number.
    @inline(__always)
    mutating func mix(_ bytes: UnsafeRawBufferPointer) {
        var offset = 0
        while offset &+ 8 <= bytes.count {
            mix(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
            offset &+= 8
        }
        var rest: UInt64 = 0
        while offset < bytes.count {
            rest = rest &<< 8 | UInt64(bytes[offset])
            offset &+= 1
        }
        mix(rest)
    }

    var value: UInt128 {
        var copy = self
        copy.mix(0x9fb2_1c65_1e98_df25)
        copy.mix(copy.b)
        return UInt128(copy.a) << 64 | UInt128(copy.b)
    }
}
