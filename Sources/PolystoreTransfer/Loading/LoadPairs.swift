internal import PolystoreStorage

/// The pending members of to-many relationships. A pair that exists is not added again.
struct LoadPairs {
    private struct Pair: Hashable {
        let owner: Int64
        let member: Int64
    }

    /// The pairs of each link table, in the order of the records, with the position of the record in its file.
    private var pending: [Int: [(pair: Pair, position: Int)]] = [:]

    /// Adds a member of the object of a record.
    mutating func add(_ members: LoadMembers, of object: Int64, _ destination: Int64, _ position: Int) {
        let isOwner = members.side == .owner
        pending[members.link, default: []].append(
            (Pair(owner: isOwner ? object : destination, member: isOwner ? destination : object), position))
    }

    /// Writes the pairs that do not exist, the last ones of their owners.
    ///
    /// - Parameter isRecorded: Whether the history records them.
    /// - Returns: The positions of the records that have added members.
    mutating func flush(_ writer: WriteSession, isRecorded: Bool) throws(StorageError) -> Set<Int> {
        var changed: Set<Int> = []
        for (link, added) in pending.sorted(by: { $0.key < $1.key }) {
            var known: Set<Pair> = [], last: [Int64: Int64] = [:]
            try writer.links(link, side: .owner, keys: Set(added.map(\.pair.owner)).sorted()) { pairs throws(StorageError) in
                for pair in pairs {
                    known.insert(Pair(owner: pair.owner, member: pair.member))
                    last[pair.owner] = max(last[pair.owner] ?? pair.rank, pair.rank)
                }
            }
            let isOrdered = writer.schema.links[link].isOrdered
            var new: [LinkPair] = []
            for (pair, position) in added where known.insert(pair).inserted {
                var rank: Int64 = 0
                if isOrdered {
                    rank = try NextRank.rank(after: last[pair.owner], of: pair.owner, writer.schema.links[link], writer.schema)
                }
                last[pair.owner] = rank
                new.append(LinkPair(owner: pair.owner, rank: rank, member: pair.member))
                changed.insert(position)
            }
            if new.isEmpty { continue }
            if isRecorded {
                try writer.apply(ChangeSet(links: [LinkChanges(link: link, added: new)]))
            } else {
                try writer.load(link: link, new)
            }
        }
        pending.removeAll()
        return changed
    }
}
