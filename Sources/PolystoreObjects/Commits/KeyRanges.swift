internal import PolystoreStorage

/// A set of keys, as ranges in ascending order without overlaps.
package struct KeyRanges {
    private var ranges: [ClosedRange<Int64>] = []

    /// Creates a set from the keys of ranges, in any order.
    package init(_ parts: [ClosedRange<Int64>]) {
        for part in parts.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = ranges.last, last.upperBound >= part.lowerBound {
                ranges[ranges.count - 1] = last.lowerBound...max(last.upperBound, part.upperBound)
            } else {
                ranges.append(part)
            }
        }
    }

    /// Returns whether a key is in the set.
    package func contains(_ key: Int64) -> Bool {
        var low = 0, high = ranges.count
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound < key { low = middle + 1 } else { high = middle }
        }
        return low < ranges.count && ranges[low].contains(key)
    }

    /// Returns whether two sets have a key in common.
    func overlap(_ other: KeyRanges) -> Bool {
        var i = 0, j = 0
        while i < ranges.count, j < other.ranges.count {
            if ranges[i].overlaps(other.ranges[j]) { return true }
            if ranges[i].upperBound < other.ranges[j].upperBound { i += 1 } else { j += 1 }
        }
        return false
    }
}
