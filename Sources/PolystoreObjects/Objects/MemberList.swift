internal import PolystoreStorage

/// A list of unique keys in the order of their addition; with their ranks for an ordered relationship.
///
/// Adding and removing a key takes amortized constant time. The index for that is created by the first change, because most lists are only
/// read. A removed key leaves a gap, and gaps are removed when they are the majority.
package struct MemberList<Key: Hashable> {
    /// The keys including gaps: a position is a gap if the index has another position for its key, or none.
    private var storedKeys: [Key]
    /// The ranks of the stored keys; empty if the list is not ordered.
    private var storedRanks: [Int64]
    /// The greatest rank of a member that is or was in the list.
    private(set) var greatestRank: Int64
    private var positions: [Key: Int]?
    private var gaps = 0

    init(keys: [Key], ranks: [Int64] = []) {
        storedKeys = keys
        storedRanks = ranks
        greatestRank = ranks.max() ?? 0
    }

    var count: Int { storedKeys.count - gaps }

    /// The keys in their order.
    package var keys: [Key] { gaps == 0 ? storedKeys : occupied.map { storedKeys[$0] } }

    /// The ranks of the keys, for an ordered relationship.
    var ranks: [Int64] { gaps == 0 ? storedRanks : occupied.map { storedRanks[$0] } }

    /// A rank after all others; nil if the value range is exhausted.
    var nextRank: Int64? {
        let (rank, isOver) = greatestRank.addingReportingOverflow(Rank.gap)
        return isOver ? nil : rank
    }

    /// Adds a key at the end, unless it is already in the list. A key without a rank in a list with ranks gets rank 0, like its pair.
    mutating func append(_ key: Key, rank: Int64? = nil) {
        makeIndex()
        if positions?[key] != nil { return }
        positions?[key] = storedKeys.count
        if rank != nil, storedRanks.isEmpty { storedRanks = [Int64](repeating: 0, count: storedKeys.count) }
        storedKeys.append(key)
        if let rank { greatestRank = max(greatestRank, rank) }
        if rank != nil || !storedRanks.isEmpty { storedRanks.append(rank ?? 0) }
    }

    /// Returns whether a key is in the list.
    mutating func contains(_ key: Key) -> Bool {
        makeIndex()
        return positions?[key] != nil
    }

    mutating func remove(_ key: Key) {
        makeIndex()
        guard positions?.removeValue(forKey: key) != nil else { return }
        gaps += 1
        if gaps * 2 > storedKeys.count { self = MemberList(keys: keys, ranks: storedRanks.isEmpty ? [] : ranks) }
    }

    private mutating func makeIndex() {
        if positions != nil { return }
        positions = Dictionary(zip(storedKeys, storedKeys.indices)) { first, _ in first }
    }

    private var occupied: [Int] { storedKeys.indices.filter { positions?[storedKeys[$0]] == $0 } }
}

extension MemberList<Int64> {
    /// Creates the list of destinations of pairs.
    init(_ pairs: [LinkPair], _ side: LinkSide, isOrdered: Bool) {
        self.init(keys: pairs.map { side == .owner ? $0.member : $0.owner }, ranks: isOrdered ? pairs.map(\.rank) : [])
    }
}
