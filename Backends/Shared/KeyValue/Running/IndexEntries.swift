internal import PolystoreStorage

/// Index entries that wait to be sorted, stored one after the other in a single buffer to avoid an allocation for each entry.
struct IndexEntries {
    private var bytes: [UInt8] = []
    private var ends: [Int] = []

    /// The memory of the entries in bytes.
    var size: Int { bytes.count + ends.count * 2 * MemoryLayout<Int>.size }

    mutating func append(_ entry: [UInt8]) {
        bytes.append(contentsOf: entry)
        ends.append(bytes.count)
    }

    /// Calls `body` with each entry, in byte order.
    func inOrder(_ body: (UnsafeRawBufferPointer) throws(StorageError) -> Void) throws(StorageError) {
        var failure: StorageError?
        bytes.withUnsafeBytes { buffer in
            func entry(_ index: Int) -> UnsafeRawBufferPointer {
                UnsafeRawBufferPointer(rebasing: buffer[(index == 0 ? 0 : ends[index - 1])..<ends[index]])
            }
            do throws(StorageError) {
                for index in ends.indices.sorted(by: { compareBytes(entry($0), entry($1)) < 0 }) { try body(entry(index)) }
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }
}
