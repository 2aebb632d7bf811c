/// A set of primary keys that are added in ascending order. Adjacent keys take no additional memory.
struct KeySet {
    private var ranges: [ClosedRange<Int64>] = []

    /// Adds a key that is greater than all keys of the set.
    mutating func append(_ key: Int64) {
        if let last = ranges.last, last.upperBound < Int64.max, last.upperBound + 1 == key {
            ranges[ranges.count - 1] = last.lowerBound...key
        } else {
            ranges.append(key...key)
        }
    }

    /// Returns whether a key is in the set.
    func contains(_ key: Int64) -> Bool {
        var low = 0, high = ranges.count
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound < key { low = middle + 1 } else { high = middle }
        }
        return low < ranges.count && ranges[low].contains(key)
    }
}
