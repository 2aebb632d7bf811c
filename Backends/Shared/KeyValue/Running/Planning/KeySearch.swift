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
    static let seekCost = 5
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

extension OrderedCursor {
    func seek(_ bytes: [UInt8]) throws(StorageError) -> Bool {
        var outcome: Result<Bool, StorageError> = .success(false)
        bytes.withUnsafeBytes { buffer in
            do throws(StorageError) { outcome = .success(try seek(buffer)) } catch { outcome = .failure(error) }
        }
        return try outcome.get()
    }
}
