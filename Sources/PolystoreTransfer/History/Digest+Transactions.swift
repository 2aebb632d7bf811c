internal import PolystoreStorage

extension Digest {
    /// Adds a transaction at its position. Returns its size.
    @discardableResult
    mutating func add(_ entry: HistoryEntry) -> Int { add(time: entry.time, entry.author, HistoryRecorder.encode(entry.changes)) }

    /// Adds a transaction at its position. Returns its size.
    ///
    /// - Parameter changes: The changes in the form of the recorder.
    @discardableResult
    mutating func add(time: Int64, _ author: String, _ changes: [UInt8]) -> Int {
        var bytes: [UInt8] = []
        for number in [UInt64(count), UInt64(bitPattern: time)] {
            withUnsafeBytes(of: number.littleEndian) { bytes += $0 }
        }
        bytes += Array(author.utf8) + [0] + changes
        bytes.withUnsafeBytes { add($0) }
        return bytes.count
    }
}
