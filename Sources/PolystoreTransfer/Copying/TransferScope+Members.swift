internal import PolystoreStorage

/// The members of to-many relationships whose objects are copied only in part.
extension TransferScope {
    /// Returns the number of members of one-to-many relationships of copied objects that the target will not have, by the name of the
    /// relationship. Those of relationships in link tables are found when they are copied.
    ///
    /// - Complexity: O(*n*) for the objects of the hierarchies of such members.
    func omittedMembers(_ source: ReadSession, _ limit: WorkLimit?) throws(StorageError) -> [String: Int] {
        var omitted: [String: Int] = [:]
        for (root, keys) in chosen.sorted(by: { $0.key < $1.key }) {
            var owners: [EntityIndex: [(slot: Int, destination: EntityIndex, name: String)]] = [:]
            for entity in schema[root].family {
                for (index, slot) in schema[entity].slots.enumerated() {
                    guard case .toOne(let relationship, let destination) = slot.content, let inverse = relationship.inverse,
                        schema[destination].relationship(inverse)?.relationship.cardinality == .toMany
                    else { continue }
                    owners[entity, default: []].append((index, destination, "\(schema[destination].name).\(inverse)"))
                }
            }
            if owners.isEmpty { continue }
            let cursor = try source.cursor(for: FetchPlan(schema, root, fields: .some(SlotMask()))), batch = RowBatch(capacity: 1024)
            while try cursor.next(into: batch) {
                try limit?.check()
                for index in 0..<batch.count where !keys.contains(batch.key(index)) {
                    let row = batch.row(index)
                    if wasPresent(row.key, row.entity) { continue }
                    for owner in owners[row.entity] ?? [] where !row[owner.slot].isNull && contains(row[owner.slot].int, owner.destination)
                    {
                        omitted[owner.name, default: 0] += 1
                    }
                }
            }
        }
        return omitted
    }

    /// Refuses copied objects that would have fewer members than their relationship requires, because members are not copied.
    ///
    /// - Parameter accepted: The relationships of which this is accepted.
    /// - Throws: `dataLossRefused`.
    func refuseTooFewMembers(_ source: ReadSession, accepted: Set<String>, _ limit: WorkLimit?) throws(StorageError) {
        var refused: [(name: String, count: Int, least: Int)] = []
        for description in schema.descriptions {
            for item in description.relationships where item.declaredIn == description.index && !isWhole(schema[item.destination].root) {
                let name = "\(description.name).\(item.relationship.name)", least = item.relationship.leastDestinations
                if least == 0 || accepted.contains(name) { continue }
                let remaining = try remainingMembers(item, description.index, source, limit) { !contains($0, $1) }
                let count = remaining.count { $0.value < least }
                if count > 0 { refused.append((name, count, least)) }
            }
        }
        if refused.isEmpty { return }
        let counts = refused.map { "\($0.count) objects would have fewer than the \($0.least) members that \($0.name) must have" }
        let options = refused.map { "--accept-loss '\($0.name)'" }.joined(separator: " ")
        throw StorageError(
            .dataLossRefused,
            "\(counts.joined(separator: ", ")), because the others are not copied; copy these as well, or accept the loss with \(options)")
    }

    /// Rejects objects that would have fewer members than their relationship requires, because members are rejected.
    ///
    /// - Parameter accepted: The relationships of which this is accepted.
    /// - Returns: The roots of the hierarchies of these objects.
    func rejectTooFewMembers(
        _ rejects: RejectedRows, _ source: ReadSession, _ model: MappedModel?, accepted: Set<String>, _ limit: WorkLimit?
    ) throws(StorageError) -> Set<EntityIndex> {
        let roots = Set(rejects.roots), names = model?.schema ?? schema
        var changed: Set<EntityIndex> = []
        for description in schema.descriptions {
            for (position, item) in description.relationships.enumerated() where item.declaredIn == description.index {
                let least = item.relationship.leastDestinations
                if least == 0 || !roots.contains(schema[item.destination].root) { continue }
                if accepted.contains("\(description.name).\(item.relationship.name)") { continue }
                let remaining = try remainingMembers(item, description.index, source, limit) { key, entity in
                    rejects.contains(key, schema[entity].root)
                }
                let target = names[model?.entities[description.index] ?? description.index]
                let property = target.relationships[position].relationship.name
                for (key, count) in remaining where count < least && !rejects.contains(key, description.root) {
                    try rejects.add(
                        RejectedRow(
                            entity: target.name, key: key, property: property,
                            reason: "\(target.name).\(property) must have at least \(least) objects, and others are left out",
                            root: description.root))
                    changed.insert(description.root)
                }
            }
        }
        return changed
    }

    /// Returns the number of members that the target will have, by the key of each copied object of which a member is omitted.
    ///
    /// - Parameter isOmitted: Returns whether a member is omitted, unless the target has it already.
    /// - Complexity: O(*n*) for the objects of the destination, or the pairs of the link table.
    private func remainingMembers(
        _ item: RelationshipDescription, _ entity: EntityIndex, _ source: ReadSession, _ limit: WorkLimit?,
        isOmitted: (Int64, EntityIndex) -> Bool
    ) throws(StorageError) -> [Int64: Int] {
        var remaining: [Int64: Int] = [:]
        try forEachMember(item, source, limit) { object, member, memberEntity in
            if !contains(object, entity) || wasPresent(member, memberEntity) { return }
            if isOmitted(member, memberEntity) { remaining[object] = 0 }
        }
        if remaining.isEmpty { return remaining }
        try forEachMember(item, source, limit) { object, member, memberEntity in
            guard let count = remaining[object] else { return }
            if wasPresent(member, memberEntity) || contains(member, memberEntity) { remaining[object] = count + 1 }
        }
        return remaining
    }

    /// Passes each member of a to-many relationship to `body`: the key of its object, its key and its entity.
    private func forEachMember(
        _ item: RelationshipDescription, _ source: ReadSession, _ limit: WorkLimit?, _ body: (Int64, Int64, EntityIndex) -> Void
    ) throws(StorageError) {
        switch item.place {
        case .slot: break
        case .inverseSlot(let slot), .orderedInverseSlot(let slot, _):
            let family = Set(schema[item.destination].family), root = schema[item.destination].root
            let cursor = try source.cursor(for: FetchPlan(schema, root, fields: .some(SlotMask()))), batch = RowBatch(capacity: 1024)
            while try cursor.next(into: batch) {
                try limit?.check()
                for index in 0..<batch.count {
                    let row = batch.row(index)
                    if family.contains(row.entity), !row[slot].isNull { body(row[slot].int, row.key, row.entity) }
                }
            }
        case .link(let link, let side):
            try source.links(link, side: .owner, keys: nil) { pairs throws(StorageError) in
                try limit?.check()
                for pair in pairs {
                    let (object, member) = side == .owner ? (pair.owner, pair.member) : (pair.member, pair.owner)
                    body(object, member, item.destination)
                }
            }
        }
    }
}
