internal import Foundation
internal import PolystoreStorage

/// Bytes whose order is that of the values that they stand for.
struct KeyBytes {
    private(set) var bytes: [UInt8] = []

    mutating func reset() { bytes.removeAll(keepingCapacity: true) }

    /// A whole number: big-endian with the sign flipped.
    @inline(__always)
    mutating func append(_ key: Int64) {
        let flipped = (UInt64(bitPattern: key) ^ (1 << 63)).bigEndian
        withUnsafeBytes(of: flipped) { bytes.append(contentsOf: $0) }
    }

    /// A cell, nil first. Texts and bytes end with 00 01, a 00 within them is written 00 FF, so that compound keys compare right.
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

    /// Cuts what is longer than an engine allows; whoever finds a cut key checks the values themselves.
    mutating func truncate(to count: Int) { if bytes.count > count { bytes.removeLast(bytes.count - count) } }

    func withBytes<R>(_ body: (UnsafeRawBufferPointer) throws(StorageError) -> R) throws(StorageError) -> R {
        var result: R?
        var failure: StorageError?
        bytes.withUnsafeBytes { buffer in
            do throws(StorageError) { result = try body(buffer) } catch { failure = error }
        }
        if let failure { throw failure }
        guard let result else { throw StorageError(.corrupted, "a key has no bytes") }
        return result
    }

    /// The whole number of eight bytes.
    @inline(__always)
    static func key(_ bytes: UnsafeRawBufferPointer) -> Int64 {
        guard bytes.count >= 8, let start = bytes.baseAddress else { return 0 }
        return Int64(bitPattern: UInt64(bigEndian: start.loadUnaligned(as: UInt64.self)) ^ (1 << 63))
    }

    /// The double of eight bytes.
    @inline(__always)
    static func real(_ bytes: UnsafeRawBufferPointer) -> Double {
        let bits = UInt64(bitPattern: key(bytes))
        return Double(bitPattern: bits >> 63 == 0 ? bits : ~(bits ^ (1 << 63)))
    }

    /// The whole number of the last eight bytes: the row's key in an index.
    static func lastKey(_ bytes: UnsafeRawBufferPointer) -> Int64 {
        bytes.count < 8 ? 0 : key(UnsafeRawBufferPointer(rebasing: bytes[(bytes.count - 8)...]))
    }
}

/// A row's key as the eight bytes of a map's key.
struct RowKey {
    private let bits: UInt64

    @inline(__always)
    init(_ key: Int64) { bits = (UInt64(bitPattern: key) ^ (1 << 63)).bigEndian }

    @inline(__always)
    func withBytes<R>(_ body: (UnsafeRawBufferPointer) throws(StorageError) -> R) throws(StorageError) -> R {
        var copy = bits
        // A nested function cannot be typed-throwing through the standard library's closure: the error is carried out.
        var outcome: Result<R, StorageError>?
        withUnsafeBytes(of: &copy) { buffer in
            do throws(StorageError) { outcome = .success(try body(buffer)) } catch { outcome = .failure(error) }
        }
        guard let outcome else { throw StorageError(.corrupted, "a key has no bytes") }
        return try outcome.get()
    }
}

/// Reads row keys from the bytes of map keys, for engines that are asked for the last one.
public enum RowKeyBytes {
    /// The row key of eight bytes.
    public static func key(_ bytes: UnsafeRawBufferPointer) -> Int64 { KeyBytes.key(bytes) }
}
