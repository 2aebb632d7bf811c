internal import PolystoreStorage

/// A set of primary keys in any order, with a bit for each key of a range of 1,024 that contains at least one.
struct KeyBitmap {
    private static let wordsOfRange = 16
    /// The position of the words of each range.
    private var positions: [Int64: Int] = [:]
    private var words: [UInt64] = []
    /// The number of keys.
    private(set) var count = 0

    /// Adds a key. Returns whether it was missing.
    @discardableResult
    mutating func insert(_ key: Int64) -> Bool {
        let (range, word, bit) = Self.place(key)
        let position: Int
        if let known = positions[range] {
            position = known + word
        } else {
            positions[range] = words.count
            position = words.count + word
            words.append(contentsOf: repeatElement(0, count: Self.wordsOfRange))
        }
        if words[position] & bit != 0 { return false }
        words[position] |= bit
        count += 1
        return true
    }

    /// Removes a key. Returns whether it was present.
    @discardableResult
    mutating func remove(_ key: Int64) -> Bool {
        let (range, word, bit) = Self.place(key)
        guard let position = positions[range], words[position + word] & bit != 0 else { return false }
        words[position + word] &= ~bit
        count -= 1
        return true
    }

    /// Returns whether a key is in the set.
    func contains(_ key: Int64) -> Bool {
        let (range, word, bit) = Self.place(key)
        guard let position = positions[range] else { return false }
        return words[position + word] & bit != 0
    }

    private static func place(_ key: Int64) -> (range: Int64, word: Int, bit: UInt64) {
        (key >> 10, Int(key & 1023) >> 6, 1 << UInt64(key & 63))
    }

    /// Passes the keys to `body` in ascending order, in arrays of at most the number that `size` returns.
    func forEach(_ size: () -> Int, _ body: ([Int64]) throws(StorageError) -> Void) throws(StorageError) {
        var block: [Int64] = []
        for range in positions.keys.sorted() {
            guard let position = positions[range] else { continue }
            for word in 0..<Self.wordsOfRange {
                var bits = words[position + word]
                while bits != 0 {
                    block.append(range << 10 + Int64(word << 6 + bits.trailingZeroBitCount))
                    bits &= bits - 1
                    if block.count >= size() {
                        try body(block)
                        block.removeAll(keepingCapacity: true)
                    }
                }
            }
        }
        if !block.isEmpty { try body(block) }
    }
}
