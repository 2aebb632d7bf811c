internal import Foundation
internal import PolystoreTransfer
internal import Synchronization

/// The progress of reading the current input file.
enum InputProgress {
    private static let current = Mutex<(read: Int, size: Int)>((0, 0))

    /// Returns blocks that are counted as they are read. A file whose size is unknown is not.
    static func counting(_ blocks: FileBlocks, of path: String) -> FileBlocks {
        let size = (try? FileManager.default.attributesOfItem(atPath: path)[.size]) as? Int ?? 0
        current.withLock { $0 = (0, size) }
        return FileBlocks {
            guard let block = try blocks.block() else { return nil }
            current.withLock { $0.read += block.count }
            return block
        }
    }

    /// The part of the file that was read, in percent; nil if its size is unknown.
    static var percent: Int? {
        current.withLock { $0.size > 0 ? Int(Double(min($0.read, $0.size)) / Double($0.size) * 100) : nil }
    }
}
