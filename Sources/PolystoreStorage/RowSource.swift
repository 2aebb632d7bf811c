/// A source of rows that can encode its rows into batches repeatedly, so that a large change needs no second copy in memory.
public struct RowSource {
    /// The number of rows.
    public let count: Int
    private let encode: (Range<Int>, RowBatch) -> Void
    private var check: ((RowBatch) throws(StorageError) -> Void)?

    /// Creates a source of `count` rows. `encode` appends the rows of a range to a batch.
    public init(count: Int, encode: @escaping (Range<Int>, RowBatch) -> Void) {
        self.count = count
        self.encode = encode
    }

    /// Returns a source of the same rows that runs `check` on each batch before delivering it.
    func checked(_ check: @escaping (RowBatch) throws(StorageError) -> Void) -> RowSource {
        var source = self
        source.check = check
        return source
    }

    /// Calls `body` with the rows, in batches of at most `scratch.capacity` rows.
    public func forEachBatch(_ scratch: RowBatch, _ body: (RowBatch) throws(StorageError) -> Void) throws(StorageError) {
        var start = 0
        while start < count {
            let end = min(start + scratch.capacity, count)
            scratch.clear()
            encode(start..<end, scratch)
            try check?(scratch)
            try body(scratch)
            start = end
        }
    }
}
