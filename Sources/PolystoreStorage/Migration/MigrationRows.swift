/// Creates rows of the newer version from rows of the older version: the part of a step that a store cannot perform in place.
package final class MigrationRows {
    /// The processing of the rows of an old entity for one new hierarchy.
    private final class Route {
        let plan: RowPlan
        let transformer: MigrationMapping.Transformer?
        /// Whether the first object that the route creates has the key of the old object.
        let keepsKey: Bool
        /// Whether the transformer has created an object.
        var hasCreated = false

        init(plan: RowPlan, transformer: MigrationMapping.Transformer?, keepsKey: Bool) {
            self.plan = plan
            self.transformer = transformer
            self.keepsKey = keepsKey
        }
    }

    private let mapping: MigrationMapping
    private let keys: MigrationKeys
    private let source: ReadSession
    private let destination: WriteSession
    private let problems = MigrationProblems()
    /// The next keys for new objects that do not take over the key of an old object, by root.
    private var extraKeys: [EntityIndex: Int64] = [:]
    /// The keys of the discarded objects, by the new hierarchy to which they would belong. A key is the one that the object would have
    /// there.
    package private(set) var missing: [EntityIndex: Set<Int64>] = [:]
    /// The attributes that both versions have and that a transformer, although it created objects, has not assigned.
    private var unassigned: [ForgottenAttribute] = []
    /// The shapes of the older version, which record what transformers have read for all hierarchies.
    private let shapes: [ObjectShape]
    private let old: Schema
    private let new: Schema
    private let exceptValues: Bool

    /// Creates the row conversion of a migration step.
    ///
    /// - Parameter exceptValues: Whether nil is allowed, because `RequiredValues` checks it after work of the program.
    package init(
        _ mapping: MigrationMapping, _ keys: MigrationKeys, from source: ReadSession, to destination: WriteSession,
        exceptValues: Bool = false
    ) {
        self.exceptValues = exceptValues
        self.mapping = mapping
        self.keys = keys
        self.source = source
        self.destination = destination
        old = mapping.schemas.source
        new = mapping.schemas.destination
        shapes = old.descriptions.map(ObjectShape.init)
        extraKeys = keys.limits
    }

    /// The first key of each hierarchy that no object has.
    package var limits: [EntityIndex: Int64] { extraKeys }

    /// Returns the number of rows to read for a hierarchy.
    package func count(_ root: EntityIndex) throws(StorageError) -> Int {
        var count = 0
        for origin in mapping.schemas.origins(ofRoot: root) {
            let answer = try source.values(for: .count(FetchPlan(old, origin)))
            if case .int(let rows)? = answer.first?.first { count += Int(rows) }
        }
        return count
    }

    /// Writes the rows of a new hierarchy.
    ///
    /// - Parameter report: Called with the number of rows after each batch. An error that it throws ends the work.
    package func write(root: EntityIndex, report: (Int) throws(StorageError) -> Void) throws(StorageError) {
        let out = RowBatch(capacity: 8192)
        for origin in mapping.schemas.origins(ofRoot: root) {
            let routes = old.descriptions.map { self.routes($0, root) }
            let cursor = try source.cursor(for: FetchPlan(old, origin))
            let batch = RowBatch(capacity: 4096)
            let frame = MigrationFrame(source, shapes, out, keys, problems), offset = keys.offset(from: origin, to: root)
            var object = UnsafeSourceObject(frame, origin)
            while try cursor.next(into: batch) {
                var index = 0
                while index < batch.count {
                    // Adjacent rows mostly belong to one entity, and an entity mostly has one route: a lookup for each row would cost a
                    // tenth of the time.
                    let entity = batch.row(index).entity, list = routes[entity]
                    while index < batch.count, batch.row(index).entity == entity {
                        try write(batch.row(index), offset, list, root, &object, frame)
                        if out.isFull || out.copiedBytes > 8 << 20 { try flush(root, out) }
                        index += 1
                    }
                }
                try problems.throwFirst()
                try report(batch.count)
            }
            for route in routes.joined() where route.hasCreated { noteUse(by: route.plan) }
        }
        try flush(root, out)
    }

    /// Records which attributes a transformer that created objects has assigned. What it assigned in some objects is not forgotten.
    private func noteUse(by plan: RowPlan) {
        for (slot, origin) in plan.mapping.slots.enumerated() {
            guard case .slot(let before, _) = origin, plan.entity.slots[slot].attribute != nil else { continue }
            if plan.shape.isUsed[slot] {
                shapes[plan.mapping.source].noteUse(of: before)
            } else {
                unassigned.append(
                    ForgottenAttribute(source: plan.mapping.source, sourceSlot: before, destination: plan.entity.index, slot: slot))
            }
        }
    }

    /// The attributes that both versions have and that a transformer, although it created objects, has not assigned, where no transformer
    /// has read them and no other mapping of their entity keeps them. Complete after the last hierarchy. An attribute of the older version
    /// that has several counterparts occurs once for each.
    package var forgotten: [ForgottenAttribute] {
        let copied = copiedSlots
        return unassigned.filter { !shapes[$0.source].isUsed[$0.sourceSlot] && copied[$0.source]?.contains($0.sourceSlot) != true }
    }

    /// The slots of each entity that a mapping without a transformer copies, here or in place.
    private var copiedSlots: [EntityIndex: Set<Int>] {
        var result: [EntityIndex: Set<Int>] = [:]
        for (index, part) in mapping.schemas.entities.enumerated() where mapping.transformers[index] == nil {
            for (slot, origin) in part.slots.enumerated() {
                guard case .slot(let before, _) = origin,
                    CellConversion(from: old[part.source].slots[before].type, to: new[part.destination].slots[slot].type) != nil
                else { continue }
                result[part.source, default: []].insert(before)
            }
        }
        return result
    }

    /// Throws the first problem that transformers have caused and that has not been thrown, such as the use of their objects after the last
    /// call.
    package func checkProblems() throws(StorageError) { try problems.throwFirst() }

    private func flush(_ root: EntityIndex, _ out: RowBatch) throws(StorageError) {
        if out.count > 0 { try destination.load(root, out) }
        out.clear()
    }

    private func routes(_ entity: EntityDescription, _ root: EntityIndex) -> [Route] {
        var routes: [Route] = []
        for (index, part) in mapping.schemas.entities.enumerated() where part.source == entity.index && new[part.destination].root == root {
            let plan = RowPlan(part, mapping.schemas, keys, exceptValues: exceptValues)
            routes.append(Route(plan: plan, transformer: mapping.transformers[index], keepsKey: routes.isEmpty))
        }
        return routes
    }

    private func write(
        _ row: borrowing RowView, _ offset: Int64, _ routes: [Route], _ root: EntityIndex, _ object: inout UnsafeSourceObject,
        _ frame: MigrationFrame
    ) throws(StorageError) {
        let key = row.key &+ offset, out = frame.batch
        var isThere = false
        for route in routes {
            guard let transformer = route.transformer else {
                route.plan.append(row, key: route.keepsKey ? key : newKey(root), out, problems)
                isThere = isThere || route.keepsKey
                continue
            }
            // An object that the program has kept remains that of its row.
            if !isKnownUniquelyReferenced(&object) { object = UnsafeSourceObject(frame, row.entity) }
            object.move(to: row)
            let first = out.count
            try run(transformer, object, route, key, root, frame)
            if route.plan.hasRules { for index in first..<out.count { route.plan.check(out.row(index), problems) } }
            isThere = isThere || (route.keepsKey && out.count > first)
        }
        if !isThere { missing[root, default: []].insert(key) }
    }

    private func newKey(_ root: EntityIndex) -> Int64 {
        let key = extraKeys[root] ?? 1
        if key < .max {
            extraKeys[root] = key + 1
        } else {
            problems.add(
                StorageError(.limitExceeded, "the hierarchy of \(new[root].name) has no more keys for the objects of the migration"))
        }
        return key
    }

    private func run(
        _ transformer: MigrationMapping.Transformer, _ object: UnsafeSourceObject, _ route: Route, _ key: Int64, _ root: EntityIndex,
        _ frame: MigrationFrame
    ) throws(StorageError) {
        var isFirst = route.keepsKey
        defer { frame.endCall() }
        do {
            try transformer(object) {
                let next = isFirst ? key : newKey(root)
                isFirst = false
                route.hasCreated = true
                route.plan.appendEmpty(object, key: next, frame.batch)
                return UnsafeDestinationObject(route.plan, frame, key: next)
            }
        } catch {
            if let error = error as? StorageError { throw error }
            let name = object.entityName
            throw StorageError(
                .validationFailed, "the transformer of \(name) failed: \(type(of: error))",
                details: .init(entity: name, keys: [object.key]),
                cause: error)
        }
    }

    /// Writes the pairs of a new link table. `LeftBehind` removes the pairs of discarded objects.
    package func write(link: Int) throws(StorageError) {
        let isOrdered = new.links[link].isOrdered, target = new.links[link]
        switch mapping.schemas.links[link] {
        case .none: return
        case .link(let before, let isFlipped):
            let description = old.links[before]
            let ownerRoot = old[isFlipped ? description.member : description.owner].root
            let memberRoot = old[isFlipped ? description.owner : description.member].root
            var rank = PairRank(isKept: description.isOrdered && !isFlipped, isOrdered)
            try source.links(before, side: isFlipped ? .member : .owner, keys: nil) { pairs throws(StorageError) in
                try destination.load(
                    link: link,
                    pairs.map { pair in
                        let owner = isFlipped ? pair.member : pair.owner, member = isFlipped ? pair.owner : pair.member
                        return LinkPair(
                            owner: keys.key(owner, from: ownerRoot, inHierarchyOf: target.owner), rank: rank.next(pair, owner: owner),
                            member: keys.key(member, from: memberRoot, inHierarchyOf: target.member))
                    })
            }
        case .slot(let entity, let slot, let isFlipped): try write(link, from: entity, slot, isFlipped)
        }
    }

    private func write(_ link: Int, from entity: EntityIndex, _ slot: Int, _ isFlipped: Bool) throws(StorageError) {
        let target = new.links[link]
        guard let other = old[entity].slots[slot].destination else { return }
        let cursor = try source.cursor(for: FetchPlan(old, entity))
        let batch = RowBatch()
        // By owner and row key: the initial order of a new ordered relationship.
        var counts: [Int64: Int64] = [:]
        while try cursor.next(into: batch) {
            var pairs: [LinkPair] = []
            for index in 0..<batch.count where !batch.row(index)[slot].isNull {
                let (row, value) = (batch.key(index), batch.row(index)[slot].int)
                let rowRoot = old[entity].root, valueRoot = old[other].root
                let owner = keys.key(isFlipped ? value : row, from: isFlipped ? valueRoot : rowRoot, inHierarchyOf: target.owner)
                let member = keys.key(isFlipped ? row : value, from: isFlipped ? rowRoot : valueRoot, inHierarchyOf: target.member)
                var rank: Int64 = 0
                if target.isOrdered {
                    counts[owner, default: 0] += 1
                    rank = (counts[owner] ?? 1) * PairRank.gap
                }
                pairs.append(LinkPair(owner: owner, rank: rank, member: member))
            }
            if !pairs.isEmpty { try destination.load(link: link, pairs) }
        }
    }

    /// Records the objects of old entities without a mapping, for hierarchies that the store changes in place.
    package func noteLeftBehind(inPlace roots: Set<EntityIndex>) throws(StorageError) {
        for root in roots {
            for origin in mapping.schemas.origins(ofRoot: root) {
                let gone = old[origin].family.filter { !old[$0].isAbstract && mapping.schemas.mappings(of: $0).isEmpty }
                if gone.isEmpty { continue }
                let cursor = try source.cursor(for: FetchPlan(entity: origin, entities: gone, fields: .keysOnly)), batch = RowBatch()
                while try cursor.next(into: batch) {
                    for index in 0..<batch.count { missing[root, default: []].insert(batch.key(index)) }
                }
            }
        }
    }
}

/// The ranks of pairs in their new table.
private struct PairRank {
    /// The gap between adjacent ranks, which leaves room for later moves.
    static let gap: Int64 = 1 << 20

    private let isKept: Bool
    private let isOrdered: Bool
    private var owner: Int64?
    private var rank: Int64 = 0

    init(isKept: Bool, _ isOrdered: Bool) {
        self.isKept = isKept
        self.isOrdered = isOrdered
    }

    mutating func next(_ pair: LinkPair, owner: Int64) -> Int64 {
        if !isOrdered { return 0 }
        if isKept { return pair.rank }
        rank = owner == self.owner ? rank + Self.gap : 0
        self.owner = owner
        return rank
    }
}
