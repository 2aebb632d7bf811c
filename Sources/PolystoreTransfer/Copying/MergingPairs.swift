internal import PolystoreStorage

/// Writes the members of to-many relationships that are kept in link tables into a target with objects.
///
/// The relationships of a copied object have the members that they have in the source, as far as these are in the target. Where the member
/// itself refers to its owner, its reference decides.
struct MergingPairs {
    private let contents: Contents
    private let writer: WriteSession
    private let limit: WorkLimit?
    private var schema: Schema { contents.schema }

    /// The number of objects whose members are written at once.
    private static let block = 1024

    init(_ contents: Contents, _ writer: WriteSession, _ limit: WorkLimit?) {
        self.contents = contents
        self.writer = writer
        self.limit = limit
    }

    /// Writes the pairs of a link table.
    ///
    /// - Returns: The digest of the pairs of copied owners, and the number of pairs that were left out because one object is not in the target.
    func write(_ link: Int) throws(StorageError) -> (TransferItem, omitted: Int) {
        let description = schema.links[link], slot = slot(link)
        var digest = LinkDigest(description), omitted = 0
        try contents.keyBlocks(description.owner, Self.block) { keys throws(StorageError) in
            try limit?.check()
            var wanted: [LinkPair] = [], stored: [LinkPair] = []
            omitted += try contents.pairs(link, owners: keys) { wanted += $0 }
            try writer.links(link, side: .owner, keys: keys) { stored += $0 }
            if let slot {
                let owners = try references(link, slot, Set(wanted.map(\.member)).sorted())
                wanted.removeAll { owners[$0.member] != $0.owner }
                wanted = try adding(stored, to: wanted, link, slot)
            }
            for pair in wanted { digest.add(pair) }
            try apply(Self.changes(link, description.isOrdered, from: stored, to: wanted))
        }
        try contents.keyBlocks(description.member, Self.block) { keys throws(StorageError) in
            try limit?.check()
            if let slot {
                try writeOwners(link, slot, keys)
            } else if !contents.isWhole(description.owner), description.memberRelationship != nil {
                omitted += try writeOtherOwners(link, keys)
            }
        }
        return (TransferItem(name: description.name, digest: digest.digest), omitted)
    }

    /// Returns the slot by which the members of a link table refer to their owners; nil if they do not.
    private func slot(_ link: Int) -> Int? {
        for relationship in schema[schema.links[link].owner].relationships {
            if case .orderedInverseSlot(let slot, link) = relationship.place { return slot }
        }
        return nil
    }

    private func apply(_ changes: LinkChanges) throws(StorageError) {
        if !changes.removed.isEmpty || !changes.added.isEmpty { try writer.apply(ChangeSet(links: [changes])) }
    }

    private static func changes(_ link: Int, _ isOrdered: Bool, from stored: [LinkPair], to wanted: [LinkPair]) -> LinkChanges {
        var changes = LinkChanges(link: link)
        let old = Dictionary(grouping: stored, by: \.owner), new = Dictionary(grouping: wanted, by: \.owner)
        for owner in Set(old.keys).union(new.keys).sorted() {
            let before = old[owner] ?? [], after = new[owner] ?? []
            if isOrdered {
                if before.map(\.member) == after.map(\.member) { continue }
                changes.removed += before
                changes.added += after
            } else {
                let members = Set(before.map(\.member)), kept = Set(after.map(\.member))
                changes.removed += before.filter { !kept.contains($0.member) }
                changes.added += after.filter { !members.contains($0.member) }
            }
        }
        return changes
    }

    // MARK: Members that refer to their owners

    /// Returns the references of members to their owners, as they are in the target now.
    private func references(_ link: Int, _ slot: Int, _ members: [Int64]) throws(StorageError) -> [Int64: Int64] {
        let entity = schema.links[link].member, family = Set(schema[entity].family), batch = RowBatch(capacity: members.count)
        try writer.rows(entity, keys: members, into: batch)
        var owners: [Int64: Int64] = [:]
        for index in 0..<batch.count {
            let row = batch.row(index)
            if family.contains(row.entity), !row[slot].isNull { owners[row.key] = row[slot].int }
        }
        return owners
    }

    /// Returns the pairs of copied owners with those of members that are only in the target and refer to them, as the last ones.
    private func adding(
        _ stored: [LinkPair], to wanted: [LinkPair], _ link: Int, _ slot: Int
    ) throws(StorageError) -> [LinkPair] {
        let known = Set(wanted.map(\.member)), others = stored.filter { !known.contains($0.member) }
        if others.isEmpty { return wanted }
        let owners = try references(link, slot, Set(others.map(\.member)).sorted())
        var last: [Int64: Int64] = [:]
        for pair in wanted { last[pair.owner] = max(last[pair.owner] ?? pair.rank, pair.rank) }
        var all = Dictionary(grouping: wanted, by: \.owner)
        for pair in others where owners[pair.member] == pair.owner {
            let rank = try rank(after: last[pair.owner], of: pair.owner, link)
            last[pair.owner] = rank
            all[pair.owner, default: []].append(LinkPair(owner: pair.owner, rank: rank, member: pair.member))
        }
        return all.sorted { $0.key < $1.key }.flatMap(\.value)
    }

    /// Gives copied members the position among the members of the owner to which they refer, and no other.
    private func writeOwners(_ link: Int, _ slot: Int, _ keys: [Int64]) throws(StorageError) {
        let owners = try references(link, slot, keys)
        var changes = LinkChanges(link: link), placed: Set<Int64> = []
        try writer.links(link, side: .member, keys: keys) { pairs throws(StorageError) in
            for pair in pairs {
                if owners[pair.member] == pair.owner { placed.insert(pair.member) } else { changes.removed.append(pair) }
            }
        }
        let missing = keys.compactMap { key in owners[key].flatMap { placed.contains(key) ? nil : (owner: $0, member: key) } }
        changes.added = try appended(missing, link)
        try apply(changes)
    }

    // MARK: Owners that are not copied

    /// Relates copied members to the objects that the source relates them to and that are not copied, but are in the target.
    ///
    /// - Returns: The number of pairs whose owner is not in the target.
    private func writeOtherOwners(_ link: Int, _ keys: [Int64]) throws(StorageError) -> Int {
        let description = schema.links[link]
        let wanted = try contents.pairsOfOtherOwners(link, members: keys)
        var stored: [LinkPair] = []
        try writer.links(link, side: .member, keys: keys) { stored += $0 }
        let owners = Set(wanted.map(\.owner)), present = owners.filter { contents.isInTarget($0, description.owner) }
        struct Pair: Hashable {
            let owner: Int64
            let member: Int64

            init(_ pair: LinkPair) {
                owner = pair.owner
                member = pair.member
            }
        }
        let known = Set(stored.map(Pair.init)), kept = Set(wanted.map(Pair.init))
        var changes = LinkChanges(link: link)
        changes.added = try appended(
            wanted.filter { present.contains($0.owner) && !known.contains(Pair($0)) }.map { ($0.owner, $0.member) }, link)
        // An owner that the source does not have is not contradicted by it.
        let others = stored.filter { !kept.contains(Pair($0)) && !contents.isCopied($0.owner, description.owner) }
        let inSource = try contents.entities(of: Set(others.map(\.owner)).sorted(), schema[description.owner].root)
        changes.removed = others.filter { inSource[$0.owner] != nil }
        try apply(changes)
        return wanted.count { !present.contains($0.owner) }
    }

    /// Returns pairs that are the last ones of their owners in the target.
    private func appended(_ pairs: [(owner: Int64, member: Int64)], _ link: Int) throws(StorageError) -> [LinkPair] {
        if pairs.isEmpty { return [] }
        if !schema.links[link].isOrdered { return pairs.map { LinkPair(owner: $0.owner, rank: 0, member: $0.member) } }
        var last: [Int64: Int64] = [:], added: [LinkPair] = []
        try writer.links(link, side: .owner, keys: Set(pairs.map(\.owner)).sorted()) { stored throws(StorageError) in
            for pair in stored { last[pair.owner] = max(last[pair.owner] ?? pair.rank, pair.rank) }
        }
        for pair in pairs {
            let rank = try rank(after: last[pair.owner], of: pair.owner, link)
            last[pair.owner] = rank
            added.append(LinkPair(owner: pair.owner, rank: rank, member: pair.member))
        }
        return added
    }

    private func rank(after last: Int64?, of owner: Int64, _ link: Int) throws(StorageError) -> Int64 {
        try NextRank.rank(after: last, of: owner, schema.links[link], schema)
    }
}
