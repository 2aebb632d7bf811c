internal import PolystoreStorage

/// Finds the keys of rows by indexes.
///
/// No statistics have to be kept to choose between indexes: their entries are read side by side until the shortest list ends, which costs
/// what the shortest costs for each index, and the number of pairs of a map, which every engine knows, says when reading all rows is
/// cheaper.
struct KeySearch {
    /// What was found.
    struct Found {
        /// The keys, each once, ascending.
        let keys: [Int64]
        /// The indexes whose entries all have been read.
        let uses: [IndexUse]
        /// The full-text indexes that have been read.
        var words: [KeyValueLayout.IndexMap] = []
    }

    /// A look-up costs about as much as reading so many pairs one after the other (memory 5, LMDB 10).
    static let lookUpCost = 8
    /// Going to a place of an index costs a little less, because its upper pages are read again and again.
    fileprivate static let seekCost = 5
    private static let chunk = 1024

    /// The keys that indexes lead to, intersected where it pays; nil when each index costs more than `most`, the look-ups of its rows
    /// included.
    ///
    /// - Parameter most: Counted in pairs that are read one after the other.
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
        // Where one index answers the condition, the others have nothing to add.
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

/// A walk through the entries of a use of an index.
struct IndexWalk {
    private let use: IndexUse
    private let cursor: any OrderedCursor
    private let work: WorkMeter
    private var interval = 0
    /// Whether the cursor stands on an entry that was not read.
    private var isPending = false
    private var keys: [Int64] = []
    private var seeks = 0

    init(_ use: IndexUse, _ reader: KeyValueReader) throws(StorageError) {
        self.use = use
        cursor = try reader.engine.cursor(use.index.map)
        work = reader.work
    }

    var isDone: Bool { interval >= use.intervals.count }

    /// What reading took so far, in pairs that are read one after the other.
    var readCost: Int { seeks * KeySearch.seekCost + keys.count }

    /// What reading and looking up the rows takes.
    var cost: Int { readCost + keys.count * KeySearch.lookUpCost }

    /// Reads on for about so much of the cost; true when there are no more entries.
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

    /// What was read, ascending, each key once.
    var sortedKeys: [Int64] {
        // The entries of one value are in order already.
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
