internal import PolystoreStorage

/// Reads the bytes of a file block by block, and keeps track of the line and column.
struct ByteReader {
    private static let lineFeed = UInt8(ascii: "\n"), carriageReturn = UInt8(ascii: "\r")

    private let blocks: FileBlocks
    private let file: String
    private var block: [UInt8] = []
    private var offset = 0
    /// The line of the next byte, counted from 1.
    private(set) var line = 1
    /// The column of the next byte in its line, in bytes, counted from 1.
    private(set) var column = 1

    /// Creates a reader, and skips a byte order mark.
    ///
    /// - Parameter file: The name of the file in errors.
    init(_ blocks: FileBlocks, _ file: String) throws(StorageError) {
        self.blocks = blocks
        self.file = file
        // A block may be shorter than the byte order mark.
        while block.count < 3, try refill() {}
        if block.starts(with: [0xef, 0xbb, 0xbf]) { offset = 3 }
    }

    /// Returns the next byte without consuming it, or nil at the end.
    mutating func peek() throws(StorageError) -> UInt8? {
        while offset == block.count {
            block.removeAll()
            offset = 0
            if try !refill() { return nil }
        }
        return block[offset]
    }

    /// Returns the first line of the file, or its beginning if the line is long, without consuming it.
    mutating func firstLine() throws(StorageError) -> ArraySlice<UInt8> {
        while block.count - offset < 1 << 16, !block[offset...].contains(Self.lineFeed), try refill() {}
        return block[offset...].prefix { $0 != Self.lineFeed }
    }

    /// Returns the first byte that is no space and ends no line, among the first 64 KiB, without consuming it.
    mutating func firstCharacter() throws(StorageError) -> UInt8? {
        while true {
            if let found = block[offset...].first(where: { $0 != 0x20 && $0 != 0x09 && $0 != 0x0d && $0 != 0x0a }) { return found }
            if block.count - offset >= 1 << 16 { return nil }
            if try !refill() { return nil }
        }
    }

    /// Skips the byte that `peek` returned.
    mutating func skip() {
        column += 1
        if block[offset] == Self.lineFeed { beginLine() }
        offset += 1
    }

    /// Skips the end of a line: a line feed, a carriage return, or both.
    mutating func skipLineEnd() throws(StorageError) {
        if try peek() == Self.carriageReturn {
            skip()
            if try peek() != Self.lineFeed { return beginLine() }
        }
        skip()
    }

    /// Appends the bytes up to one for which `isStop` returns true. It must return true for a line feed.
    mutating func take(into result: inout [UInt8], until isStop: (UInt8) -> Bool) throws(StorageError) {
        while try peek() != nil {
            let end = block[offset...].firstIndex(where: isStop)
            result += block[offset..<(end ?? block.count)]
            column += (end ?? block.count) - offset
            offset = end ?? block.count
            if end != nil { return }
        }
    }

    /// Returns the text up to a byte for which `isStop` returns true, or nil if it is not valid UTF-8. It must return true for a line feed.
    mutating func text(until isStop: (UInt8) -> Bool) throws(StorageError) -> String? {
        // Most texts are in one block, and are not copied before they are checked.
        if try peek() != nil, let end = block[offset...].firstIndex(where: isStop) {
            let text = block.withUnsafeBytes { String(utf8: UnsafeRawBufferPointer(rebasing: $0[offset..<end])) }
            column += end - offset
            offset = end
            return text
        }
        var result: [UInt8] = []
        try take(into: &result, until: isStop)
        return result.withUnsafeBytes(String.init(utf8:))
    }

    /// Returns the error for content at a line and column.
    func refusal(_ message: String, line: Int, column: Int) -> StorageError {
        StorageError(.valueNotStorable, "\(file.excerpt()), line \(line), column \(column): \(message)")
    }

    private mutating func beginLine() {
        line += 1
        column = 1
    }

    private mutating func refill() throws(StorageError) -> Bool {
        do {
            guard let next = try blocks.block() else { return false }
            block += next
            return true
        } catch let error as StorageError {
            throw error
        } catch {
            throw StorageError(.inputOutput, "the file \(file.excerpt()) cannot be read", cause: error)
        }
    }
}
