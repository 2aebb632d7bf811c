public import PolystoreFoundation

extension String {
    /// Compares two strings by UTF-8 bytes. Returns a negative number, zero, or a positive number.
    public func compareUTF8(to other: String) -> Int {
        let fast = self.utf8.withContiguousStorageIfAvailable { a in
            other.utf8.withContiguousStorageIfAvailable { compareBytes(UnsafeRawBufferPointer(a), UnsafeRawBufferPointer($0)) }
        }
        if let result = fast ?? nil { return result }
        let a = Array(utf8), b = Array(other.utf8)
        return a.withUnsafeBytes { x in b.withUnsafeBytes { compareBytes(x, $0) } }
    }
}

/// Compares two byte sequences; if one is a prefix of the other, the shorter one comes first. Returns a negative number, zero, or a
/// positive number.
@inlinable
public func compareBytes(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
    let shared = Swift.min(a.count, b.count)
    if shared > 0, let x = a.baseAddress, let y = b.baseAddress {
        let order = memcmp(x, y, shared)
        if order != 0 { return Int(order) }
    }
    return a.count - b.count
}
