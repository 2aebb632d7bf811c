internal import PolystoreStorage

/// The keys at the other end of a to-many relationship of one object, once they are known.
typealias ToManyState = MemberList<Int64>

/// Keys in the order in which they were added, each once, for an ordered relationship with their ranks.
///
/// Adding and removing a key takes constant time on average. The index for that is made with the first change, because most lists are only
/// read. A removed key leaves a gap, and gaps are closed when they are the greater part.
struct MemberList<Key: Hashable> {
    /// The keys with gaps: a position is a gap where the index names another one for its key, or none.
    private var storedKeys: [Key]
    /// The ranks of the stored keys, one for each; empty where there is no order.
    private var storedRanks: [Int64]
    private var greatestRank: Int64
    private var positions: [Key: Int]?
    private var gaps = 0

    init(keys: [Key], ranks: [Int64] = []) {
        storedKeys = keys
        storedRanks = ranks
        greatestRank = ranks.max() ?? 0
    }

    var count: Int { storedKeys.count - gaps }

    /// The keys in their order.
    var keys: [Key] { gaps == 0 ? storedKeys : occupied.map { storedKeys[$0] } }

    /// The ranks of the keys, for an ordered relationship.
    var ranks: [Int64] { gaps == 0 ? storedRanks : occupied.map { storedRanks[$0] } }

    /// A rank after all others; nil where there is no greater number.
    var nextRank: Int64? {
        let (rank, isOver) = greatestRank.addingReportingOverflow(Rank.gap)
        return isOver ? nil : rank
    }

    /// Adds a key at the end, unless it is there; one without a rank in a list with ranks has rank 0, as its pair has.
    mutating func append(_ key: Key, rank: Int64? = nil) {
        makeIndex()
        if positions?[key] != nil { return }
        positions?[key] = storedKeys.count
        if rank != nil, storedRanks.isEmpty { storedRanks = [Int64](repeating: 0, count: storedKeys.count) }
        storedKeys.append(key)
        if let rank { greatestRank = max(greatestRank, rank) }
        if rank != nil || !storedRanks.isEmpty { storedRanks.append(rank ?? 0) }
    }

    /// Whether a key is in the list.
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
    /// The other ends of pairs.
    init(_ pairs: [Link], _ side: LinkSide, isOrdered: Bool) {
        self.init(keys: pairs.map { side == .owner ? $0.member : $0.owner }, ranks: isOrdered ? pairs.map(\.rank) : [])
    }
}
