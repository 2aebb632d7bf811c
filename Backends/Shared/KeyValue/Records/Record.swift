internal import PolystoreStorage

/// The byte format of one object.
///
/// | offset | content |
/// |---|---|
/// | 0 | CRC-32C of all following bytes, 4 bytes; 0 where the engine does not use checksums |
/// | 4 | entity number, 2 bytes |
/// | 6 | number of slots, 2 bytes |
/// | 8 | version, 8 bytes |
/// | 16 | one bit for each slot, set when the slot is not nil, in words of 8 bytes |
/// | … | 8 bytes for each slot: a number, or the start (4) and the length (4) of bytes in the tail |
/// | … | the tail: the bytes of texts and data |
///
/// All integers are little-endian. Reading a slot takes constant time, and texts are returned in place, without a copy.
struct Record {
    static let headerBytes = 16

    static func words(_ slots: Int) -> Int { (slots + 63) / 64 }

    /// Returns the number of bytes that a row needs.
    @inline(__always)
    static func size(_ cells: UnsafePointer<Cell>, _ slots: Int) -> Int {
        var size = headerBytes &+ 8 &* (words(slots) &+ slots)
        for slot in 0..<slots { size &+= Int(cells[slot].length) }
        return size
    }

    /// Writes a row to the `size` bytes at `start`.
    @inline(__always)
    static func write(
        _ cells: UnsafePointer<Cell>, _ slots: Int, number: Int16, version: Int64, to start: UnsafeMutableRawPointer, size: Int,
        isChecked: Bool
    ) {
        start.storeBytes(of: number.littleEndian, toByteOffset: 4, as: Int16.self)
        start.storeBytes(of: UInt16(truncatingIfNeeded: slots).littleEndian, toByteOffset: 6, as: UInt16.self)
        start.storeBytes(of: version.littleEndian, toByteOffset: 8, as: Int64.self)
        let bitmap = headerBytes, values = bitmap &+ 8 &* words(slots)
        var tail = values &+ 8 &* slots
        for word in 0..<words(slots) {
            var present: UInt64 = 0
            for slot in (word &* 64)..<Swift.min(word &* 64 &+ 64, slots) where cells[slot].kind != .null {
                present |= 1 &<< UInt64(slot & 63)
            }
            start.storeBytes(of: present.littleEndian, toByteOffset: bitmap &+ 8 &* word, as: UInt64.self)
        }
        for slot in 0..<slots {
            let cell = cells[slot]
            var bits = cell.bits
            switch cell.kind {
            case .null: bits = 0
            case .int, .real: break
            case .text, .blob:
                bits = UInt64(tail) | UInt64(cell.length) &<< 32
                if cell.length > 0, let source = UnsafeRawPointer(bitPattern: UInt(cell.bits)) {
                    (start + tail).copyMemory(from: source, byteCount: Int(cell.length))
                    tail &+= Int(cell.length)
                }
            }
            start.storeBytes(of: bits.littleEndian, toByteOffset: values &+ 8 &* slot, as: UInt64.self)
        }
        let checksum = isChecked ? Checksum.crc32c(UnsafeRawPointer(start) + 4, size &- 4) : 0
        start.storeBytes(of: checksum.littleEndian, as: UInt32.self)
    }

    /// Returns the entity number of a record.
    @inline(__always)
    static func number(_ bytes: UnsafeRawBufferPointer) -> Int16? {
        guard bytes.count >= headerBytes, let start = bytes.baseAddress else { return nil }
        return Int16(littleEndian: start.loadUnaligned(fromByteOffset: 4, as: Int16.self))
    }

    /// Returns the version of a record.
    @inline(__always)
    static func version(_ bytes: UnsafeRawBufferPointer) -> Int64 {
        guard bytes.count >= headerBytes, let start = bytes.baseAddress else { return 0 }
        return Int64(littleEndian: start.loadUnaligned(fromByteOffset: 8, as: Int64.self))
    }

    /// Fills the cells of a row; texts and data point into the record. Returns false if the record is damaged.
    ///
    /// - Parameter slots: The slots to fill, nil for all. The cells of other slots are not changed.
    @inline(__always)
    static func read(
        _ bytes: UnsafeRawBufferPointer, _ kinds: UnsafeBufferPointer<CellKind>, only slots: UnsafeBufferPointer<Int>? = nil,
        into cells: UnsafeMutablePointer<Cell>, isChecked: Bool
    ) -> Bool {
        let count = kinds.count
        guard let start = bytes.baseAddress, bytes.count >= headerBytes &+ 8 &* (words(count) &+ count),
            Int(UInt16(littleEndian: start.loadUnaligned(fromByteOffset: 6, as: UInt16.self))) == count,
            !isChecked || UInt32(littleEndian: start.loadUnaligned(as: UInt32.self)) == Checksum.crc32c(start + 4, bytes.count &- 4)
        else { return false }
        if let slots {
            for slot in slots where !read(slot, bytes.count, start, kinds, into: cells) { return false }
        } else {
            for slot in 0..<count where !read(slot, bytes.count, start, kinds, into: cells) { return false }
        }
        return true
    }

    @inline(__always)
    private static func read(
        _ slot: Int, _ size: Int, _ start: UnsafeRawPointer, _ kinds: UnsafeBufferPointer<CellKind>, into cells: UnsafeMutablePointer<Cell>
    ) -> Bool {
        let values = headerBytes &+ 8 &* words(kinds.count)
        let present = UInt64(littleEndian: start.loadUnaligned(fromByteOffset: headerBytes &+ 8 &* (slot &>> 6), as: UInt64.self))
        if present &>> UInt64(slot & 63) & 1 == 0 {
            cells[slot] = .null
            return true
        }
        let bits = UInt64(littleEndian: start.loadUnaligned(fromByteOffset: values &+ 8 &* slot, as: UInt64.self)), kind = kinds[slot]
        switch kind {
        case .null, .int, .real: cells[slot] = Cell(bits: bits, length: 0, kind: kind)
        case .text, .blob:
            let offset = Int(bits & 0xffff_ffff), length = Int(bits &>> 32)
            if offset &+ length > size { return false }
            cells[slot] = Cell(bits: UInt64(UInt(bitPattern: start + offset)), length: UInt32(truncatingIfNeeded: length), kind: kind)
        }
        return true
    }
}
