internal import PolystoreStorage

/// The members that a detached transaction has added or moved to the end of ordered relationships. They follow the members that other
/// transactions have added there since, as if the transaction had begun after them.
struct AppendedMembers {
    private let context: ObjectContext
    private let tracker: ChangeTracker

    init(_ context: ObjectContext, _ tracker: ChangeTracker) {
        self.context = context
        self.tracker = tracker
    }

    /// Gives the members ranks after those in the store.
    ///
    /// - Parameters:
    ///   - changes: The changes of a store, which are about to be written.
    ///   - reader: The session that writes them.
    func follow(in changes: inout ChangeSet, of store: Int, _ reader: ReadSession) throws(StorageError) {
        for index in changes.links.indices {
            let table = ChangeTracker.LinkKey(link: changes.links[index].link, store: store)
            if let ranks = tracker.greatestRanks[table] { try follow(&changes.links[index], table, ranks, reader) }
        }
    }

    /// - Parameter ranks: The greatest ranks of other members when this transaction read them, by owner.
    private func follow(
        _ changes: inout LinkChanges, _ table: ChangeTracker.LinkKey, _ ranks: [Int64: Int64], _ reader: ReadSession
    ) throws(StorageError) {
        func isAppended(_ pair: LinkPair) -> Bool { ranks[pair.owner].map { pair.rank > $0 } ?? false }
        let owners = Set(changes.added.lazy.filter(isAppended).map(\.owner))
        if owners.isEmpty { return }
        let own = tracker.links[table] ?? [:]
        var greatest: [Int64: Int64] = [:], stored: Set<ChangeTracker.Pair> = []
        try reader.links(table.link, side: .owner, keys: owners.sorted()) { pairs throws(StorageError) in
            for link in pairs {
                let pair = ChangeTracker.Pair(owner: link.owner, member: link.member)
                if own[pair] != nil {
                    stored.insert(pair)
                } else {
                    greatest[link.owner] = max(greatest[link.owner] ?? link.rank, link.rank)
                }
            }
        }
        // Another transaction has added the same member, which keeps its place.
        let moved = (tracker.reranked[table] ?? []).union(tracker.restored[table] ?? [])
        changes.added.removeAll { link in
            let pair = ChangeTracker.Pair(owner: link.owner, member: link.member)
            return isAppended(link) && stored.contains(pair) && !moved.contains(pair)
        }
        for index in changes.added.indices where isAppended(changes.added[index]) {
            let link = changes.added[index]
            guard let before = ranks[link.owner], let now = greatest[link.owner], now > before else { continue }
            // Without numbers left the order is that of the keys, behind the same rank.
            let (distance, isFar) = now.subtractingReportingOverflow(before)
            let (rank, isOver) = link.rank.addingReportingOverflow(distance)
            changes.added[index].rank = isFar || isOver ? .max : rank
        }
    }

    /// Discards the members in memory of the ordered relationships that were changed, so that they are read with those of other transactions.
    func forget() {
        for (table, pairs) in tracker.links where context.model.schema.links[table.link].isOrdered {
            let link = context.model.schema.links[table.link], map = context.identityMap(link.owner, table.store)
            for owner in Set(pairs.keys.lazy.map(\.owner)) {
                guard let object = map.find(owner) else { continue }
                let position = object.description.relationships.firstIndex { $0.relationship.name == link.ownerRelationship }
                if let position { object._collections[position] = nil }
            }
        }
    }
}
