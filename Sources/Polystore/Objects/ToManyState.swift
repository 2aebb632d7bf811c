internal import PolystoreStorage

/// The keys at the other end of a to-many relationship of one object, once they are known.
struct ToManyState {
    /// The keys, in order for an ordered relationship.
    var keys: [Int64]
    /// The ranks of the keys of an ordered relationship; empty for others.
    var ranks: [Int64] = []

    init(keys: [Int64], ranks: [Int64] = []) {
        self.keys = keys
        self.ranks = ranks
    }

    /// The other ends of pairs.
    init(_ pairs: [Link], _ side: LinkSide, isOrdered: Bool) {
        keys = pairs.map { side == .owner ? $0.member : $0.owner }
        ranks = isOrdered ? pairs.map(\.rank) : []
    }

    mutating func append(_ key: Int64, rank: Int64? = nil) {
        if keys.contains(key) { return }
        keys.append(key)
        if let rank { ranks.append(rank) }
    }

    mutating func remove(_ key: Int64) {
        guard let index = keys.firstIndex(of: key) else { return }
        keys.remove(at: index)
        if index < ranks.count { ranks.remove(at: index) }
    }
}
