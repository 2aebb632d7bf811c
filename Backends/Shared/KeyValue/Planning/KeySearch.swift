internal import PolystoreStorage

/// A search for row keys by indexes.
///
/// Choosing between indexes requires no statistics. The search reads the entries of all candidate indexes in turn until the shortest list
/// ends, which costs the length of the shortest list for each index. The number of pairs in a map, which every engine knows, shows when a
/// scan of all rows is cheaper.
struct KeySearch {
    /// The result of a search.
    struct Found {
        /// The row keys, ascending, without duplicates.
        let keys: [Int64]
        /// The indexes whose entries have been read completely.
        let uses: [IndexUse]
        /// The full-text indexes that have been read.
        var words: [KeyValueLayout.IndexMap] = []
    }

    /// The approximate cost of a lookup, in pairs that are read sequentially (memory 5, LMDB 10).
    static let lookUpCost = 8
    /// The cost of a seek in an index, slightly lower because the upper pages of the index are read repeatedly.
    fileprivate static let seekCost = 5
    private static let chunk = 1024

    /// Returns the row keys that the indexes contain, intersected where that reduces the cost. Returns nil when each index costs more than
    /// `most`, including the lookups of its rows.
    ///
    /// - Parameter most: The maximum cost, in pairs that are read sequentially.
    static func keys(_ uses: [IndexUse], _ reader: KeyValueReader, most: Int) throws(StorageError) -> Found? {
        var walks: [IndexWalk] = []
        for use in uses { walks.append(try IndexWalk(use, reader)) }
        var first: Int?
        while first == nil, walks.contains(where: { $0.cost <= most }) {
            for index in walks.indices where walks[index].cost <= most {
                if try walks[index].read(chunk) {
                    first = index
                    break
                }
            }
        }
        guard let first else { return nil }
        var keys = walks[first].sortedKeys, used = [uses[first]]
        // Where one index answers the condition exactly, the others cannot narrow the result.
        for index in walks.indices where index != first && !keys.isEmpty && !uses[first].isExact {
            let worth = keys.count * lookUpCost
            while !walks[index].isDone, walks[index].readCost < worth { _ = try walks[index].read(chunk) }
            guard walks[index].isDone else { continue }
            keys = intersection(keys, walks[index].sortedKeys)
            used.append(uses[index])
        }
        return Found(keys: keys, uses: used)
    }

    static func intersection(_ a: [Int64], _ b: [Int64]) -> [Int64] {
        var result: [Int64] = [], i = 0, j = 0
        while i < a.count, j < b.count {
            if a[i] == b[j] { result.append(a[i]) }
            if a[i] <= b[j] { i += 1 } else { j += 1 }
        }
        return result
    }
}

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

extension OrderedCursor {
    func seek(_ bytes: [UInt8]) throws(StorageError) -> Bool {
        var outcome: Result<Bool, StorageError> = .success(false)
        bytes.withUnsafeBytes { buffer in
            do throws(StorageError) { outcome = .success(try seek(buffer)) } catch { outcome = .failure(error) }
        }
        return try outcome.get()
    }
}
