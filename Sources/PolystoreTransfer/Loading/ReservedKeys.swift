internal import PolystoreStorage

/// The keys of the records of a file, in their order: reserved ones, or those that the records have.
struct ReservedKeys {
    private(set) var ranges: [Range<Int64>] = []
    /// The keys that records have.
    private var given: [Int64] = []
    private var givenSet = KeyBitmap()
    private var next: Int64 = 0

    /// Returns the next key. Reserves more keys if none is left.
    mutating func take(_ entity: EntityIndex, _ writer: WriteSession) throws(StorageError) -> Int64 {
        if next == ranges.last?.upperBound ?? 0 {
            let block = try writer.reserveKeys(entity, count: 1024)
            next = block.lowerBound
            if let last = ranges.last, last.upperBound == block.lowerBound {
                ranges[ranges.count - 1] = last.lowerBound..<block.upperBound
            } else {
                ranges.append(block)
            }
        }
        next += 1
        return next - 1
    }

    /// Adds the key of a record. Returns false if an earlier record has it.
    mutating func add(_ key: Int64) -> Bool {
        if !givenSet.insert(key) { return false }
        given.append(key)
        return true
    }

    /// The keys from the first one up to the last one that was taken.
    var taken: some Sequence<Int64> { [AnySequence(given), AnySequence(ranges.joined().lazy.prefix { [next] in $0 != next })].joined() }

    func contains(_ key: Int64) -> Bool { givenSet.contains(key) || ranges.contains { $0.contains(key) } }
}
