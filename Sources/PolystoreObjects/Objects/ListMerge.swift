internal import PolystoreStorage

/// The merge of two changes of an ordered to-many relationship of one object: of a detached transaction, and of the transactions that were
/// committed meanwhile.
///
/// The result is the list of the detached transaction, without the members that the others removed and with those that they added or moved.
/// Each of these follows the member that it follows in the store, before the members that the detached transaction added there.
struct ListMerge {
    /// The members of the list that a detached transaction has changed.
    struct Origin {
        /// The list that was read, before the first change.
        var base: ToManyState
        /// The members that the transaction has added or moved since.
        var placed: Set<Int64> = []
    }

    private let stored: [LinkPair]
    private let placed: Set<Int64>
    /// The members in the order of the detached transaction.
    private let here: [Int64]
    /// The members that the other transactions added or moved, and that keep the place which these gave them.
    let foreign: Set<Int64>

    /// Merges the changes.
    ///
    /// - Parameters:
    ///   - stored: The pairs in the store, in order.
    ///   - added: The ranks of the members that the detached transaction adds, moves or numbers again.
    ///   - removed: The members that it removes.
    ///   - restored: The members that it has removed and added again.
    /// - Returns: Nil if no other transaction has changed the list.
    init?(_ origin: Origin, stored: [LinkPair], added: [Int64: Int64], removed: Set<Int64>, restored: Set<Int64>) {
        let keys = origin.base.keys, ranks = origin.base.ranks
        let base = zip(keys, ranks).filter { !removed.contains($0.0) }
        let there = stored.filter { !removed.contains($0.member) }
        if base.elementsEqual(there, by: { $0 == ($1.member, $1.rank) }) { return nil }
        let known = Dictionary(base.lazy.enumerated().map { ($1.0, Int64($0)) }) { first, _ in first }
        let present = Set(there.lazy.map(\.member))
        let unmoved = Rank.longestAscending(there.map { known[$0.member] })
        foreign = Set(
            zip(there, unmoved).lazy.filter { pair, isUnmoved in
                if origin.placed.contains(pair.member) {
                    // Both have added the member.
                    return known[pair.member] == nil && !restored.contains(pair.member)
                }
                return !isUnmoved
            }.map(\.0.member))
        let own = base.filter { added[$0.0] == nil && present.contains($0.0) } + added.map { ($0, $1) }
        let foreign = foreign
        here = own.filter { !foreign.contains($0.0) }.sorted { ($0.1, $0.0) < ($1.1, $1.0) }.map(\.0)
        self.stored = there
        placed = origin.placed
    }

    /// Returns the pairs of the merged list of an owner, in order. As many pairs as possible keep the rank that they have in the store.
    ///
    /// - Complexity: O(n log n).
    func pairs(of owner: Int64) -> [LinkPair] {
        let ranks = Dictionary(stored.lazy.map { ($0.member, $0.rank) }) { first, _ in first }
        let fixed = Set(here.lazy.filter { !placed.contains($0) && ranks[$0] != nil })
        var followers: [Int64: [Int64]] = [:], first: [Int64] = [], anchor: Int64?
        for pair in stored {
            if fixed.contains(pair.member) { anchor = pair.member }
            if !foreign.contains(pair.member) { continue }
            if let anchor { followers[anchor, default: []].append(pair.member) } else { first.append(pair.member) }
        }
        var members: [Int64] = []
        if fixed.isEmpty { swap(&members, &first) }
        for member in here {
            let isFixed = fixed.contains(member)
            if isFixed {
                // Those that follow no member stand before the first one that both have.
                members += first
                first = []
            }
            members.append(member)
            if isFixed { members += followers[member] ?? [] }
        }
        let assigned = Rank.assign(members.map { placed.contains($0) && !foreign.contains($0) ? nil : ranks[$0] })
        return zip(members, assigned).map { LinkPair(owner: owner, rank: $1, member: $0) }
    }
}

extension ChangeTracker {
    /// Returns the merge of an ordered relationship of an owner with the members in its store.
    ///
    /// - Parameters:
    ///   - stored: The pairs of the owner in the store, in order.
    ///   - changes: The pairs of the owner to be added, with their ranks, or to be removed (nil).
    /// - Returns: Nil if no other transaction has changed the list.
    func merge(of owner: Int64, _ table: LinkKey, _ stored: [LinkPair], _ changes: some Sequence<(Pair, Int64?)>) -> ListMerge? {
        guard let origin = lists[table]?[owner] else { return nil }
        var added: [Int64: Int64] = [:], removed: Set<Int64> = [], isRestored: Set<Int64> = []
        let restored = restored[table] ?? []
        for (pair, rank) in changes {
            if let rank { added[pair.member] = rank } else { removed.insert(pair.member) }
            if restored.contains(pair) { isRestored.insert(pair.member) }
        }
        return ListMerge(origin, stored: stored, added: added, removed: removed, restored: isRestored)
    }

    /// Merges an ordered relationship of an owner with the members that are read again, as if it had been changed after the other
    /// transactions.
    func rebase(_ owner: Int64, _ table: LinkKey, _ stored: [LinkPair]) {
        if lists[table]?[owner] == nil { return }
        let ranks = Dictionary(stored.lazy.map { ($0.member, $0.rank) }) { first, _ in first }
        // A member that another transaction has removed is not there again because it was moved or numbered here.
        for pair in reranked[table] ?? [] where pair.owner == owner && ranks[pair.member] == nil {
            reranked[table]?.remove(pair)
            links[table]?[pair] = nil
        }
        if links[table]?.isEmpty == true { links[table] = nil }
        let own = (links[table] ?? [:]).lazy.filter { $0.key.owner == owner }.map { ($0.key, $0.value) }
        // A member that was added or moved, and then removed again, has no place of its own.
        lists[table]?[owner]?.placed.formIntersection(own.lazy.filter { $0.1 != nil }.map(\.0.member))
        guard let merge = merge(of: owner, table, stored, own) else { return }
        for pair in merge.pairs(of: owner) {
            let isOwn = links[table]?[Pair(owner: owner, member: pair.member)] != nil
            if isOwn || pair.rank != ranks[pair.member] { setRank(table, pair) }
        }
        lists[table]?[owner]?.base = ToManyState(stored, .owner, isOrdered: true)
        lists[table]?[owner]?.placed.subtract(merge.foreign)
    }
}
