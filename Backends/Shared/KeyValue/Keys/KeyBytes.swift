internal import PolystoreFoundation
internal import PolystoreStorage

/// A byte encoding of values whose byte order equals the order of the values.
struct KeyBytes {
    private(set) var bytes: [UInt8] = []

    mutating func reset() { bytes.removeAll(keepingCapacity: true) }

    /// Appends an integer: big-endian with the sign bit flipped.
    @inline(__always)
    mutating func append(_ key: Int64) {
        let flipped = (UInt64(bitPattern: key) ^ (1 << 63)).bigEndian
        withUnsafeBytes(of: flipped) { bytes.append(contentsOf: $0) }
    }

    /// Appends a cell; nil sorts first. Texts and bytes end with 00 01, and a 00 within them is written as 00 FF, so that compound keys
    /// compare correctly.
    mutating func append(_ cell: Cell) {
        if cell.kind == .null {
            bytes.append(0)
            return
        }
        bytes.append(1)
        switch cell.kind {
        case .null: break
        case .int: append(cell.int)
        case .real:
            let bits = cell.real.bitPattern
            append(Int64(bitPattern: bits >> 63 == 0 ? bits : ~bits ^ (1 << 63)))
        case .text, .blob:
            bytes.reserveCapacity(bytes.count + cell.bytes.count + 11)
            if cell.bytes.contains(0) {
                for byte in cell.bytes {
                    bytes.append(byte)
                    if byte == 0 { bytes.append(0xff) }
                }
            } else {
                bytes.append(contentsOf: cell.bytes)
            }
            bytes.append(0)
            bytes.append(1)
        }
    }

    mutating func append(raw more: [UInt8]) { bytes += more }

    /// Cuts the key to the length that an engine allows. A reader that finds a cut key must compare the values themselves.
    mutating func truncate(to count: Int) { if bytes.count > count { bytes.removeLast(bytes.count - count) } }

    /// Encodes the values of a row in the slots of an index, cut to a length.
    mutating func encode(_ row: borrowing RowView, slots: [Int], cutTo count: Int) {
        reset()
        for slot in slots { append(row[slot]) }
        truncate(to: count)
    }

    func withBytes<R>(_ body: (UnsafeRawBufferPointer) throws(StorageError) -> R) throws(StorageError) -> R {
        var result: R?
        var failure: StorageError?
        bytes.withUnsafeBytes { buffer in
            do throws(StorageError) { result = try body(buffer) } catch { failure = error }
        }
        if let failure { throw failure }
        guard let result else { throw StorageError(.corrupted, "a key could not be read as bytes") }
        return result
    }

    /// Returns the integer that eight bytes encode.
    @inline(__always)
    static func key(_ bytes: UnsafeRawBufferPointer) -> Int64 {
        guard bytes.count >= 8, let start = bytes.baseAddress else { return 0 }
        return Int64(bitPattern: UInt64(bigEndian: start.loadUnaligned(as: UInt64.self)) ^ (1 << 63))
    }

    /// Returns the double that eight bytes encode.
    @inline(__always)
    static func real(_ bytes: UnsafeRawBufferPointer) -> Double {
        let bits = UInt64(bitPattern: key(bytes))
        return Double(bitPattern: bits >> 63 == 0 ? bits : ~(bits ^ (1 << 63)))
    }

    /// Returns the integer of the last eight bytes, which is the row key of an index entry.
    static func lastKey(_ bytes: UnsafeRawBufferPointer) -> Int64 {
        bytes.count < 8 ? 0 : key(UnsafeRawBufferPointer(rebasing: bytes[(bytes.count - 8)...]))
    }
}
