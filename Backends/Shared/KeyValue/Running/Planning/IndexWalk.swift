internal import PolystoreStorage

/// A scan of the entries that a use of an index covers.
struct IndexWalk {
    private let use: IndexUse
    private let cursor: any OrderedCursor
    private let work: WorkMeter
    private var interval = 0
    /// Whether the cursor is positioned at an entry that was not read yet.
    private var isPending = false
    private var keys: [Int64] = []
    private var seeks = 0

    init(_ use: IndexUse, _ reader: KeyValueReader) throws(StorageError) {
        self.use = use
        cursor = try reader.engine.cursor(use.index.map)
        work = reader.work
    }

    var isDone: Bool { interval >= use.intervals.count }

    /// The cost of the reading so far, in pairs that are read sequentially.
    var readCost: Int { seeks * KeySearch.seekCost + keys.count }

    /// The cost of the reading so far plus the lookups of the rows.
    var cost: Int { readCost + keys.count * KeySearch.lookUpCost }

    /// Reads entries until the cost has grown by about `count`. Returns true when there are no more entries.
    mutating func read(_ count: Int) throws(StorageError) -> Bool {
        let end = cost + count
        while interval < use.intervals.count, cost < end {
            let high = use.intervals[interval].high
            if !isPending {
                seeks += 1
                isPending = try cursor.seek(use.intervals[interval].low)
            }
            while isPending, cost < end {
                let key = cursor.key
                if high.withUnsafeBytes({ compareBytes(key, $0) }) >= 0 { break }
                try work.step()
                keys.append(KeyBytes.lastKey(key))
                isPending = try cursor.next()
            }
            if isPending, cost >= end { return false }
            interval += 1
            isPending = false
        }
        return isDone
    }

    /// The row keys that were read, ascending, without duplicates.
    var sortedKeys: [Int64] {
        // The entries of a single value are already in order.
        var sorted = keys
        if !zip(keys, keys.dropFirst()).allSatisfy({ $0 < $1 }) {
            sorted.sort()
            var last: Int64?
            sorted.removeAll { key in
                defer { last = key }
                return key == last
            }
        }
        return sorted
    }
}
