internal import PolystoreStorage

extension StoreCheck {
    /// Checks that both ends of each pair of a link table exist, and that no pair is there twice.
    func checkPairs(_ link: Int, _ body: (CheckFinding) throws(StorageError) -> Void) throws(StorageError) {
        let description = schema.links[link]
        var owner: Int64?, members: Set<Int64> = []
        try session.links(link, side: .owner, keys: nil) { pairs throws(StorageError) in
            try limit?.check()
            progress?.addFurther(pairs.count, of: description.name)
            for pair in pairs {
                if pair.owner != owner {
                    owner = pair.owner
                    members.removeAll(keepingCapacity: true)
                }
                if !exists(pair.owner, description.owner) {
                    let isRemoved = removed.contains(pair.owner, root: schema[description.owner].root)
                    let owner = isRemoved ? "the repair removes the owner" : "the owner does not exist"
                    let sentence = "has object \(pair.member) as a member although \(owner)"
                    try body(finding(description, pair.owner, sentence, .removePair(link: link, pair)))
                } else if !exists(pair.member, description.member) {
                    let member = "object \(pair.member) of \(name(description.member))", what = missing(pair.member, description.member)
                    try body(finding(description, pair.owner, "has \(member) as a member, which \(what)", .removePair(link: link, pair)))
                }
                if checksLimits, description.isOrdered, pair.rank == .max {
                    let sentence = "object \(pair.member) has the last possible position, so that no member can follow it"
                    try body(finding(description, pair.owner, sentence, .renumber(link: link, owner: pair.owner)))
                }
                if !members.insert(pair.member).inserted {
                    try body(finding(description, pair.owner, "has object \(pair.member) as a member twice"))
                }
            }
        }
    }

    private func finding(_ link: LinkDescription, _ key: Int64, _ sentence: String, _ step: RepairStep? = nil) -> CheckFinding {
        CheckFinding(name(link.owner), key, link.ownerRelationship, sentence, step)
    }

    /// Checks that both sides of a link table contain the same pairs.
    func checkSides(_ link: Int, _ body: (CheckFinding) throws(StorageError) -> Void) throws(StorageError) {
        if try digest(link, .owner) == digest(link, .member) { return }
        try checkSide(.owner, link, "but not at the other side of the relationship", body)
        try checkSide(.member, link, "but only at the other side of the relationship", body)
    }

    /// Returns the digest of the pairs of a link table as one of its sides contains them.
    private func digest(_ link: Int, _ side: LinkSide) throws(StorageError) -> Digest {
        var digest = Digest()
        try session.links(link, side: side, keys: nil) { pairs throws(StorageError) in
            try limit?.check()
            for pair in pairs { digest.add(pair, position: Int(truncatingIfNeeded: pair.rank)) }
        }
        return digest
    }

    /// Passes the pairs of a side that the other side lacks to `body`, unless one of their objects does not exist.
    private func checkSide(
        _ side: LinkSide, _ link: Int, _ sentence: String, _ body: (CheckFinding) throws(StorageError) -> Void
    ) throws(StorageError) {
        let description = schema.links[link], other: LinkSide = side == .owner ? .member : .owner
        try session.links(link, side: side, keys: nil) { pairs throws(StorageError) in
            for start in stride(from: 0, to: pairs.count, by: Self.blockSize) {
                try limit?.check()
                let block = Array(pairs[start..<min(start + Self.blockSize, pairs.count)])
                var found: Set<LinkPair> = []
                try session.links(link, side: other, keys: Set(block.map { $0.key(at: other) }).sorted()) { pairs throws(StorageError) in
                    found.formUnion(pairs)
                }
                // Where the ranks differ, that of the owner counts.
                let isAnyRank = side == .member
                if isAnyRank { found = Set(found.map(\.withoutRank)) }
                let absent = block.filter { !found.contains(isAnyRank ? $0.withoutRank : $0) }
                let owners = side == .owner ? try referredOwners(link, absent.map(\.member)) : [:]
                for pair in absent {
                    // Of an object with one owner, its reference decides.
                    let isOther = owners[pair.member].map { $0 != pair.owner } ?? false
                    let isWhole = exists(pair.owner, description.owner) && exists(pair.member, description.member)
                    // Pairs of missing objects on the side of the owners are found by `checkPairs`.
                    if !isWhole, side == .owner { continue }
                    let text = "has object \(pair.member) as a member, \(sentence)"
                    let step: RepairStep = isWhole && !isOther ? .addPair(link: link, pair) : .removePair(link: link, pair)
                    try body(finding(description, pair.owner, text, step))
                }
            }
        }
    }

    /// Returns the owners to which members refer, for a link table of positions of objects that refer to their owner. An optional without a
    /// value is a member that refers to nothing.
    private func referredOwners(_ link: Int, _ members: [Int64]) throws(StorageError) -> [Int64: Int64?] {
        if members.isEmpty { return [:] }
        for description in schema.descriptions {
            for item in description.relationships where item.declaredIn == description.index {
                guard case .orderedInverseSlot(let slot, link) = item.place else { continue }
                let batch = RowBatch(capacity: Self.blockSize)
                do throws(StorageError) {
                    try session.rows(item.destination, keys: Set(members).sorted(), into: batch)
                } catch  where error.code == .corrupted { return [:] }
                var owners: [Int64: Int64?] = [:]
                for index in 0..<batch.count where schema[item.destination].family.contains(batch.row(index).entity) {
                    let cell = batch.row(index)[slot]
                    owners[batch.key(index)] = .some(cell.isNull ? nil : cell.int)
                }
                return owners
            }
        }
        return [:]
    }

    /// Checks that ordered to-many relationships whose members refer to their owner have a position for each of these members.
    func checkOrders(_ root: EntityIndex, _ body: (CheckFinding) throws(StorageError) -> Void) throws(StorageError) {
        for description in schema.descriptions where description.root == root {
            for item in description.relationships where item.declaredIn == description.index {
                guard case .orderedInverseSlot(let slot, let link) = item.place else { continue }
                try checkOrder(item, slot, link, body)
            }
        }
    }

    private func checkOrder(
        _ item: RelationshipDescription, _ slot: Int, _ link: Int, _ body: (CheckFinding) throws(StorageError) -> Void
    ) throws(StorageError) {
        let members = Set(schema[item.destination].family), description = schema.links[link]
        let root = schema[item.destination].root
        var scan = try CheckedRows(session, root), block: [(key: Int64, owner: Int64?)] = []
        func compare() throws(StorageError) {
            try limit?.check()
            let owners = try owners(link, block.map(\.key))
            // A pair that only the side of the members lacks has its position still: it is found by `checkSides`.
            let absent = block.compactMap { item in
                item.owner.flatMap { owners[item.key]?.contains($0) == true ? nil : LinkPair(owner: $0, member: item.key) }
            }
            let present = try pairs(link, absent)
            for (key, owner) in block {
                let found = owners[key] ?? []
                // A reference to a missing owner is a violation of its own.
                if let owner, !found.contains(owner), exists(owner, description.owner),
                    !present.contains(LinkPair(owner: owner, member: key))
                {
                    let step = RepairStep.appendMember(link: link, owner: owner, member: key)
                    try body(finding(description, owner, "has no position for object \(key), which refers to it", step))
                }
                for other in found where other != owner && exists(other, description.owner) {
                    let step = RepairStep.removePair(link: link, LinkPair(owner: other, member: key))
                    try body(finding(description, other, "has a position for object \(key), which does not refer to it", step))
                }
            }
            block.removeAll(keepingCapacity: true)
        }
        while let key = scan.key {
            if members.contains(scan.entity), !removed.contains(key, root: root) {
                block.append((key, scan.cell(slot).isNull ? nil : scan.cell(slot).int))
            }
            if block.count == Self.blockSize { try compare() }
            try scan.advance()
        }
        try compare()
    }

    /// Checks that to-many relationships have as many members as they must.
    ///
    /// Which members are missing or too many is not known, so no repair changes them.
    func checkCounts(_ body: (CheckFinding) throws(StorageError) -> Void) throws(StorageError) {
        for description in schema.descriptions {
            for item in description.relationships where item.declaredIn == description.index && item.relationship.cardinality != .toOne {
                guard let rule = RelationshipRule(item.relationship, of: description.index) else { continue }
                for key in try violations(of: rule, item, description) {
                    try body(CheckFinding(description.name, key, rule.relationship, rule.sentence, code: .validationFailed))
                }
            }
        }
    }

    /// Returns the keys of the objects with too few or too many members.
    private func violations(
        of rule: RelationshipRule, _ item: RelationshipDescription, _ description: EntityDescription
    ) throws(StorageError) -> [Int64] {
        var keys: [Int64] = []
        if removed.count == 0, damagedTables.isEmpty {
            do throws(StorageError) {
                try rule.violations(session, limit) { keys.append($0) }
                return keys
            } catch  where error.code == .corrupted && session.storedForms != nil {
                keys.removeAll()
            }
        }
        // The store cannot count members that are removed or cannot be decoded, or by an index that is damaged.
        let counts = try memberCounts(item, of: description.index), family = Set(description.family)
        var rows = try CheckedRows(session, description.root)
        while let key = rows.key {
            if family.contains(rows.entity), !removed.contains(key, root: description.root), rule.isViolated(by: counts[key] ?? 0) {
                keys.append(key)
            }
            try rows.advance()
        }
        return keys
    }

    /// Returns the number of members of each object that has any.
    private func memberCounts(_ item: RelationshipDescription, of entity: EntityIndex) throws(StorageError) -> [Int64: Int] {
        var counts: [Int64: Int] = [:]
        switch item.place {
        case .slot: break
        case .inverseSlot(let slot), .orderedInverseSlot(let slot, _):
            let root = schema[item.destination].root, family = Set(schema[item.destination].family)
            var rows = try CheckedRows(session, root)
            while let key = rows.key {
                if family.contains(rows.entity), !removed.contains(key, root: root), !rows.cell(slot).isNull {
                    counts[rows.cell(slot).int, default: 0] += 1
                }
                try rows.advance()
            }
        case .link(let link, let side):
            try session.links(link, side: .owner, keys: nil) { pairs throws(StorageError) in
                try limit?.check()
                for pair in pairs {
                    let (object, member) = side == .owner ? (pair.owner, pair.member) : (pair.member, pair.owner)
                    if exists(member, item.destination) { counts[object, default: 0] += 1 }
                }
            }
        }
        return counts
    }

    /// Returns those of some pairs that the side of the owners contains, without their ranks.
    private func pairs(_ link: Int, _ wanted: [LinkPair]) throws(StorageError) -> Set<LinkPair> {
        if wanted.isEmpty { return [] }
        let candidates = Set(wanted)
        var present: Set<LinkPair> = []
        try session.links(link, side: .owner, keys: Set(wanted.map(\.owner)).sorted()) { pairs throws(StorageError) in
            for pair in pairs where candidates.contains(pair.withoutRank) { present.insert(pair.withoutRank) }
        }
        return present
    }

    /// Returns the owners of each member in a link table.
    private func owners(_ link: Int, _ keys: [Int64]) throws(StorageError) -> [Int64: [Int64]] {
        var owners: [Int64: [Int64]] = [:]
        if keys.isEmpty { return owners }
        try session.links(link, side: .member, keys: keys) { pairs throws(StorageError) in
            for pair in pairs { owners[pair.member, default: []].append(pair.owner) }
        }
        return owners
    }
}

extension LinkPair {
    fileprivate func key(at side: LinkSide) -> Int64 { side == .owner ? owner : member }
    fileprivate var withoutRank: LinkPair { LinkPair(owner: owner, member: member) }
}
