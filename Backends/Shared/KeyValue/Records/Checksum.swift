internal import PolystoreStorage

/// The CRC-32C (Castagnoli) checksum, computed eight bytes at a time ("slicing by eight", Kounavis and Berry 2005).
enum Checksum {
    private static let tables: [[UInt32]] = {
        var tables = [[UInt32]](repeating: [UInt32](repeating: 0, count: 256), count: 8)
        for index in 0..<256 {
            var crc = UInt32(index)
            for _ in 0..<8 { crc = crc & 1 != 0 ? crc >> 1 ^ 0x82f6_3b78 : crc >> 1 }
            tables[0][index] = crc
        }
        for index in 0..<256 {
            for table in 1..<8 {
                let before = tables[table - 1][index]
                tables[table][index] = before >> 8 ^ tables[0][Int(before & 0xff)]
            }
        }
        return tables
    }()
    private static let flat: ContiguousArray<UInt32> = ContiguousArray(tables.joined())

    /// Returns the checksum of `count` bytes.
    static func crc32c(_ start: UnsafeRawPointer, _ count: Int) -> UInt32 {
        flat.withUnsafeBufferPointer { table in
            var crc: UInt32 = ~0
            var offset = 0
            while offset &+ 8 <= count {
                let word = start.loadUnaligned(fromByteOffset: offset, as: UInt64.self) ^ UInt64(crc)
                let a = table[1792 &+ Int(word & 0xff)] ^ table[1536 &+ Int(word >> 8 & 0xff)]
                let b = table[1280 &+ Int(word >> 16 & 0xff)] ^ table[1024 &+ Int(word >> 24 & 0xff)]
                let c = table[768 &+ Int(word >> 32 & 0xff)] ^ table[512 &+ Int(word >> 40 & 0xff)]
                let d = table[256 &+ Int(word >> 48 & 0xff)] ^ table[Int(word >> 56)]
                crc = a ^ b ^ c ^ d
                offset &+= 8
            }
            while offset < count {
                crc = crc >> 8 ^ table[Int((crc ^ UInt32(start.load(fromByteOffset: offset, as: UInt8.self))) & 0xff)]
                offset &+= 1
            }
            return ~crc
        }
    }
}
