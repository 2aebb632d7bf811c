internal import PolystoreFoundation
internal import PolystoreStorage

/// The byte format of a history entry: time (8), length of the author (4), author, changes.
enum HistoryRow {
    private static let head = 12

    static func size(_ author: [UInt8], _ changes: [UInt8]) -> Int { head + author.count + changes.count }

    static func write(_ time: Int64, _ author: [UInt8], _ changes: [UInt8], to target: UnsafeMutableRawPointer) {
        target.storeBytes(of: time.littleEndian, as: Int64.self)
        target.storeBytes(of: UInt32(author.count).littleEndian, toByteOffset: 8, as: UInt32.self)
        author.withUnsafeBytes { if let start = $0.baseAddress { (target + head).copyMemory(from: start, byteCount: $0.count) } }
        changes.withUnsafeBytes { bytes in
            if let start = bytes.baseAddress { (target + head + author.count).copyMemory(from: start, byteCount: bytes.count) }
        }
    }

    static func entry(_ bytes: UnsafeRawBufferPointer, _ store: UUID, _ position: Int64) -> HistoryEntry? {
        guard bytes.count >= head else { return nil }
        let time = Int64(littleEndian: bytes.loadUnaligned(as: Int64.self))
        let length = Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt32.self)))
        guard head + length <= bytes.count, let author = String(utf8: UnsafeRawBufferPointer(rebasing: bytes[head..<(head + length)])),
            let changes = HistoryRecorder.decode(UnsafeRawBufferPointer(rebasing: bytes[(head + length)...]))
        else { return nil }
        return HistoryEntry(token: HistoryToken(store: store, position: position), time: time, author: author, changes: changes)
    }
}
