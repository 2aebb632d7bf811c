internal import PolystoreStorage

/// The changes of a detached transaction that are relevant for the comparison with concurrent changes at its commit.
struct DetachedWork {
    /// A property of an object.
    struct Place: Hashable {
        let number: Int
        let name: String
    }

    /// The assigned properties, including assignments of the same value, and those of the other side of a relationship.
    private(set) var assigned: Set<Place> = []
    /// The objects that differed from before after some step.
    private(set) var touched: Set<Int> = []
    /// Whether there was an assignment to unknown properties.
    private(set) var isVague = false

    /// Records a step by its changes.
    mutating func note(_ step: ProgramStep, _ before: NaiveGraph, _ after: NaiveGraph) {
        for number in before.objects.keys where after.changedValues(number, since: before) { touched.insert(number) }
        switch step.kind {
        case .assign(let number, let name, _), .refer(let number, let name, _): assigned.insert(Place(number: number, name: name))
        case .relate(let number, let name, let members):
            assigned.insert(Place(number: number, name: name))
            guard let inverse = before.relationship(name, of: number)?.inverse else { return }
            for member in members + before.members(number, name) { assigned.insert(Place(number: member, name: inverse)) }
        case .importAll(let kind, _, _, _, _): if kind.unique != nil { isVague = true }
        case .transaction, .nested, .detached, .create, .delete, .read, .fetch, .count, .pages, .query, .updateAll, .deleteAll, .insertAll,
            .upsertAll, .mark, .undo, .redo, .watch, .follow, .publishCount, .reopen, .migrate:
            break
        }
    }
}

/// A detached transaction that is committed after concurrent changes, as the article on transactions specifies.
struct DetachedMerge {
    enum Outcome {
        case committed(NaiveGraph)
        /// Refused for one of these reasons. The contract does not specify which one is found first.
        case refused(Set<StorageError.Code>)
        /// The contract does not specify the outcome.
        case open
    }

    let base: NaiveGraph
    let mine: NaiveGraph
    let theirs: NaiveGraph
    let work: DetachedWork
    /// The objects that were changed since the transaction began, or were deleted.
    let newer: Set<Int>
    let policy: ProgramPolicy

    /// Returns the outcome without concurrent commits.
    func alone() -> Outcome {
        if mine.violatesRules { return .refused([.validationFailed]) }
        return mine.violatesUnique ? .refused([.uniqueConstraintViolated]) : .committed(mine)
    }

    func outcome() -> Outcome {
        // The contract does not specify whether an assignment of the same value is a change, and thus whether it is in conflict.
        if !newer.isDisjoint(with: maybe) || work.isVague && !newer.isEmpty { return .open }
        if leadsElsewhere || changesPaths || deletesThroughNewPairs || ordersAgain { return .open }
        let conflicts = hasConflicts
        // The naive model does not say what becomes of the relationships: the commit must succeed, its result must be consistent, and the
        // attributes are those of the policy.
        if policy == .theirs || policy == .byAttribute, conflicts || !newer.isEmpty { return .open }
        if conflicts, policy == .error {
            var codes = early.union([.staleObject])
            if (try? merged())?.violatesUnique ?? true { codes.insert(.uniqueConstraintViolated) }
            return .refused(codes)
        }
        let merged: NaiveGraph
        do throws(NaiveGraph.Refused) {
            guard let both = try self.merged() else { return .open }
            merged = both
        } catch {
            return .refused(early.union([error.code]))
        }
        var codes: Set<StorageError.Code> = []
        if merged.violatesRules { codes.insert(.validationFailed) }
        if merged.violatesUnique { codes.insert(.uniqueConstraintViolated) }
        if !codes.isEmpty { return .refused(conflicts ? codes.union(early) : codes) }
        if conflicts, !early.isEmpty { return .open }
        return .committed(merged)
    }

    /// The reasons for which the commit may be refused before the merge, even if the merged state is valid.
    private var early: Set<StorageError.Code> {
        var codes: Set<StorageError.Code> = []
        if mine.violatesRules { codes.insert(.validationFailed) }
        if mine.violatesUnique { codes.insert(.uniqueConstraintViolated) }
        return codes
    }

    // MARK: Own changes

    /// Returns the part of an object that is as stored after a commit of the transaction: its values, if one of them was changed, and the
    /// changed relationships. Changes of a concurrent transaction to the same relationship are seen later.
    func changes(_ number: Int, in answer: ProgramAnswer) -> ProgramAnswer {
        guard case .object(let entity, let values, let related) = answer else { return answer }
        let hasValues = base.objects[number] == nil || mine.changedValues(number, since: base)
        return .object(
            entity: entity, values: hasValues ? values : [:],
            related: related.filter { name, _ in
                let was = base.members(number, name)
                return mine.members(number, name) != was && theirs.members(number, name) == was
            })
    }

    // MARK: Results

    /// Returns a description of an object whose attributes are not those that the policy specifies, in the state after the commit; nil if
    /// there is none.
    ///
    /// The conflict of a row is specified even where that of its relationships is not.
    func wrongObject(in result: NaiveGraph) -> String? {
        for (number, others) in theirs.objects.sorted(by: { $0.key < $1.key }) where base.objects[number] != nil {
            guard let found = result.objects[number] else {
                if policy == .theirs, newer.contains(number) { return "\(number) is deleted" }
                continue
            }
            for (name, other) in others.values.sorted(by: { $0.key < $1.key }) {
                guard let expected = expected(number, name, other) else { continue }
                let value = found.values[name] ?? .null
                if ReferenceStore.order(value, expected) != 0 { return "\(number).\(name) is \(value), not \(expected)" }
            }
        }
        return nil
    }

    /// The value of an attribute after a commit with `.theirs` or `.byAttribute`; nil if the contract does not specify it.
    private func expected(_ number: Int, _ name: String, _ other: Value) -> Value? {
        let was = base.objects[number]?.values[name] ?? .null
        guard let own = mine.objects[number].map({ $0.values[name] ?? .null }) else { return policy == .theirs ? other : nil }
        if !newer.contains(number) { return own }
        if policy == .theirs { return other }
        if ReferenceStore.order(own, was) != 0 {
            return ReferenceStore.order(other, was) == 0 ? own : policy.chosen(mine.objects[number]?.entity ?? "", name, was, own, other)
        }
        return work.touched.contains(number) || work.assigned.contains(.init(number: number, name: name)) || work.isVague ? nil : other
    }

    private var deleted: Set<Int> { Set(base.objects.keys.filter { mine.objects[$0] == nil }) }
    private var made: Set<Int> { Set(mine.objects.keys.filter { base.objects[$0] == nil }) }
    private var changed: Set<Int> { Set(base.objects.keys.filter { mine.changedValues($0, since: base) }) }
    private var gone: Set<Int> { Set(base.objects.keys.filter { theirs.objects[$0] == nil }) }

    /// The objects whose rows may count as changed although their values are unchanged.
    private var maybe: Set<Int> {
        let rows = work.assigned.filter { place in
            base.objects[place.number].map { object in base.schema.description(object.entity).slots.contains { $0.name == place.name } }
                ?? false
        }
        return work.touched.union(rows.map(\.number)).subtracting(changed).subtracting(deleted).subtracting(made)
    }

    /// Whether references between stores change on either side, or reference or belong to deleted objects.
    private var leadsElsewhere: Bool {
        let goes = deleted.union(gone)
        if goes.isEmpty { return false }
        return [mine, theirs].contains { graph in
            graph.objects.values.contains { object in
                graph.references(object.entity).contains { attribute in
                    let members = graph.members(object.number, attribute.name)
                    return members != base.members(object.number, attribute.name) && !goes.isDisjoint(with: members + [object.number])
                        || goes.contains(object.number) && !members.isEmpty || !goes.isDisjoint(with: members)
                }
            }
        }
    }

    private var hasConflicts: Bool {
        if !newer.isDisjoint(with: changed.union(deleted)) { return true }
        for number in changed.union(made) {
            for name in ones(number, mine) where mine.members(number, name) != base.members(number, name) {
                if !gone.isDisjoint(with: mine.members(number, name)) { return true }
            }
        }
        for (number, name) in lists {
            let added = mine.members(number, name).filter { !base.members(number, name).contains($0) }
            if !gone.isDisjoint(with: added) || gone.contains(number) && (!added.isEmpty || isReordered(number, name)) { return true }
        }
        return isReferred
    }

    /// Whether the members that are left of an ordered relationship have another order.
    private func isReordered(_ number: Int, _ name: String) -> Bool {
        guard mine.relationship(name, of: number)?.cardinality == .toManyOrdered else { return false }
        let was = base.members(number, name), own = mine.members(number, name)
        return own.filter(was.contains) != was.filter(own.contains)
    }

    /// Whether the members of an object that was deleted meanwhile may have been numbered again in the same order, which the contract does
    /// not specify as a change.
    private var ordersAgain: Bool {
        lists.contains { number, name in
            gone.contains(number) && work.assigned.contains(.init(number: number, name: name)) && !isReordered(number, name)
                && mine.relationship(name, of: number)?.cardinality == .toManyOrdered
        }
    }

    /// Whether concurrent changes reference objects deleted by this transaction, or add members to their lists.
    private var isReferred: Bool {
        theirs.objects.values.contains { object in
            object.related.contains { name, members in
                let added = members.filter { !base.members(object.number, name).contains($0) }
                return !deleted.isDisjoint(with: added) || deleted.contains(object.number) && !added.isEmpty
            }
        }
    }

    /// Whether concurrent changes connect or separate two objects that this transaction deletes: which of them a delete rule reaches, or one
    /// denies, depends on the order of the deletions, which the naive model does not know.
    private var changesPaths: Bool {
        let goes = deleted
        return goes.contains { number in
            (theirs.objects[number]?.related ?? [:]).contains { name, members in
                let was = Set(base.members(number, name))
                return !was.symmetricDifference(members).isDisjoint(with: goes)
            }
        }
    }

    /// Whether this transaction deletes an object that others have deleted, and may have reached further objects through pairs that it had
    /// added to that one: those remain if it follows the others.
    private var deletesThroughNewPairs: Bool {
        let goes = deleted
        return !goes.isDisjoint(with: gone) && !goes.isSubset(of: gone)
            && work.assigned.contains { goes.contains($0.number) && base.relationship($0.name, of: $0.number) != nil }
    }

    private func hasOneInverse(_ number: Int, _ name: String) -> Bool {
        guard let object = mine.objects[number], let item = mine.schema.description(object.entity).relationship(name),
            let inverse = item.relationship.inverse
        else { return false }
        return mine.schema.description(item.relationship.destination).relationship(inverse)?.relationship.cardinality == .toOne
    }

    private func ones(_ number: Int, _ graph: NaiveGraph) -> [String] {
        guard let object = graph.objects[number] else { return [] }
        return graph.schema.description(object.entity).relationships.map(\.relationship).filter { $0.cardinality == .toOne }.map(\.name)
    }

    /// The to-many relationships of the objects of this transaction whose inverse is not to-one.
    private var lists: [(Int, String)] {
        mine.objects.values.flatMap { object in
            mine.schema.description(object.entity).relationships.map(\.relationship).filter { relationship in
                relationship.cardinality != .toOne
                    && mine.schema.description(relationship.destination).relationship(relationship.inverse ?? "")?.relationship.cardinality
                        != .toOne
            }.map { (object.number, $0.name) }
        }.sorted { $0 < $1 }
    }

    // MARK: Merging

    /// Returns the concurrent state with the changes of this transaction applied to it; nil if the contract does not specify it.
    ///
    /// - Throws: `deleteDenied` if an object that concurrently references a deleted one denies the deletion.
    private func merged() throws(NaiveGraph.Refused) -> NaiveGraph? {
        var merged = theirs
        // The naive model does not know which deletion has reached an object whose own relationships changed.
        let turned = deleted.contains { number in
            ones(number, theirs).contains { theirs.members(number, $0) != base.members(number, $0) }
        }
        if turned { return nil }
        for number in made {
            merged.objects[number] = mine.objects[number]
            merged.objects[number]?.related = [:]
        }
        for number in changed where merged.objects[number] != nil {
            for (name, value) in mine.objects[number]?.values ?? [:] {
                let was = base.objects[number]?.values[name] ?? .null, other = theirs.objects[number]?.values[name] ?? .null
                if ReferenceStore.order(value, was) != 0 {
                    merged.objects[number]?.values[name] = value
                } else if ReferenceStore.order(other, was) != 0, work.assigned.contains(.init(number: number, name: name)) {
                    return nil
                }
            }
        }
        guard mergeOnes(&merged), mergeLists(&merged) else { return nil }
        for number in deleted where merged.objects[number] != nil {
            for (name, members) in base.objects[number]?.related ?? [:] {
                let left = merged.members(number, name).filter { !members.contains($0) }
                merged.relate(number, name, left)
            }
        }
        for object in merged.objects.values {
            for (name, members) in object.related where !deleted.isDisjoint(with: members) {
                let was = base.members(object.number, name)
                merged.objects[object.number]?.related[name] = members.filter { !deleted.contains($0) || !was.contains($0) }
            }
        }
        // References added concurrently follow the delete rules.
        try merged.delete(deleted.filter { merged.objects[$0] != nil }.sorted())
        return mergeOrders(&merged) ? merged : nil
    }

    private func mergeOnes(_ merged: inout NaiveGraph) -> Bool {
        var assignments: [(number: Int, name: String, members: [Int])] = []
        for number in changed.union(made).sorted() where merged.objects[number] != nil {
            for name in ones(number, mine) {
                let (was, own, other) = (base.members(number, name), mine.members(number, name), theirs.members(number, name))
                let isVoid = !own.isEmpty && own.allSatisfy { merged.objects[$0] == nil }
                if isVoid, other != was, hasOneInverse(number, name) {
                    // The partner that was deleted may have been assigned at its end, and takes nothing from the other transaction.
                    continue
                } else if own != was || !own.isEmpty && base.objects[number] == nil {
                    assignments.append((number, name, own.filter { merged.objects[$0] != nil }))
                } else if other != was, work.assigned.contains(.init(number: number, name: name)) {
                    return false
                }
            }
            for attribute in mine.references(mine.objects[number]?.entity ?? "") {
                let own = mine.members(number, attribute.name), was = base.members(number, attribute.name)
                if own != was {
                    merged.refer(number, attribute.name, own.first)
                } else if theirs.members(number, attribute.name) != was,
                    work.assigned.contains(.init(number: number, name: attribute.name))
                {
                    return false
                }
            }
        }
        for item in assignments where item.members.isEmpty { merged.relate(item.number, item.name, []) }
        for item in assignments where !item.members.isEmpty { merged.relate(item.number, item.name, item.members) }
        return true
    }

    /// Merges members that were added or removed on either side: both changes are kept.
    private func mergeLists(_ merged: inout NaiveGraph) -> Bool {
        for (number, name) in lists where merged.objects[number] != nil {
            let (was, own) = (base.members(number, name), mine.members(number, name))
            let kept = merged.members(number, name).filter { own.contains($0) || !was.contains($0) }
            let added = own.filter { !was.contains($0) && !kept.contains($0) && merged.objects[$0] != nil }
            if kept + added != merged.members(number, name) { merged.relate(number, name, kept + added) }
        }
        return true
    }

    /// Merges an order of members changed by this transaction, if concurrent changes have only removed members.
    private func mergeOrders(_ merged: inout NaiveGraph) -> Bool {
        for object in mine.objects.values where merged.objects[object.number] != nil {
            for item in mine.schema.description(object.entity).relationships where item.relationship.cardinality == .toManyOrdered {
                let name = item.relationship.name, number = object.number
                let (was, own, other) = (base.members(number, name), mine.members(number, name), theirs.members(number, name))
                let now = merged.members(number, name)
                if own == was {
                    if now != other { return false }
                    continue
                }
                if other != was, other != was.filter(other.contains) || own.contains(where: { !was.contains($0) }) { return false }
                let order = own.filter(now.contains)
                if Set(order) != Set(now) { return false }
                merged.objects[number]?.related[name] = order
            }
        }
        return true
    }
}
