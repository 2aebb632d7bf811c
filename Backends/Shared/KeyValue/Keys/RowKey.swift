internal import PolystoreFoundation
internal import PolystoreStorage

/// A row key as the eight bytes that a map stores.
struct RowKey {
    private let bits: UInt64

    @inline(__always)
    init(_ key: Int64) { bits = (UInt64(bitPattern: key) ^ (1 << 63)).bigEndian }

    @inline(__always)
    func withBytes<R>(_ body: (UnsafeRawBufferPointer) throws(StorageError) -> R) throws(StorageError) -> R {
        var copy = bits
        // The closure of the standard library's function cannot use typed throws, so the error is returned in a `Result`.
        var outcome: Result<R, StorageError>?
        withUnsafeBytes(of: &copy) { buffer in
            do throws(StorageError) { outcome = .success(try body(buffer)) } catch { outcome = .failure(error) }
        }
        guard let outcome else { throw StorageError(.corrupted, "a key could not be read as bytes") }
        return try outcome.get()
    }
}
