/// Primary keys in blocks, whose rows are read together. The number of bytes of the rows of a block limits the size of the next one.
package struct KeyBlocks {
    /// The number of keys of the first block, and the size in bytes of a block whose rows are as long as those before it.
    private static let first = 16, usualBytes = 4 << 20

    private var keys: ArraySlice<Int64>
    private var size = Self.first
    private let most: Int

    /// - Parameter most: The maximum number of keys of a block.
    package init(_ keys: ArraySlice<Int64>, most: Int) {
        self.keys = keys
        self.most = most
    }

    /// Returns the next block; nil if there is none.
    package mutating func next() -> [Int64]? {
        if keys.isEmpty { return nil }
        defer { keys = keys.dropFirst(size) }
        return Array(keys.prefix(size))
    }

    /// Adapts the size of the next block to the rows of this one.
    package mutating func adapt(to rows: RowBatch) { adapt(toRows: rows.count, bytes: rows.copiedBytes) }

    /// Adapts the size of the next block to the number of rows of this one and their size.
    package mutating func adapt(toRows count: Int, bytes: Int) {
        let rowBytes = max(bytes / max(count, 1), 1)
        size = max(min(4 * size, most, Self.usualBytes / rowBytes), 1)
    }
}
