internal import PolystoreStorage

/// The objects of a source that a transfer copies, and what becomes of references to others.
///
/// It contains the keys of the hierarchies that are not copied whole. All names and entities are those of the source.
struct TransferScope {
    let schema: Schema
    /// The keys that are copied, by the root of each hierarchy that is not copied whole.
    var chosen: [EntityIndex: KeyBitmap] = [:]
    /// The keys that the target has before the transfer, by entity of the source, of the hierarchies that are not copied whole.
    private var present: [EntityIndex: KeyBitmap] = [:]
    /// Whether the target has all objects that are not copied.
    private var hasOthers = false
    /// The number of references that become nil, by the name of the relationship.
    var removedReferences: [String: Int] = [:]
    /// The slots that may refer to objects that are neither copied nor present, by entity.
    var cuts: [EntityIndex: [Int]] = [:]
    /// The objects that were chosen because others refer to them, and whose own references were not followed yet.
    private var waiting: [EntityIndex: [Int64]] = [:]

    /// Creates the scope of a copy of all objects.
    init(_ schema: Schema) { self.schema = schema }

    /// Creates the scope of an update of a target that has all other objects already.
    ///
    /// - Parameter chosen: The keys of the updated objects, by hierarchy.
    init(_ schema: Schema, updating chosen: [EntityIndex: KeyBitmap]) {
        self.init(schema)
        for root in schema.roots { self.chosen[root] = chosen[root] ?? KeyBitmap() }
        hasOthers = true
    }

    /// Finds the objects of a selection.
    ///
    /// - Parameters:
    ///   - target: The target, if its objects remain.
    ///   - rejects: Receives objects for which a condition cannot be evaluated; nil if the first one ends the transfer.
    /// - Throws: `invalidConfiguration` for an unknown entity or a condition of an entity that is not copied; `invalidPredicate`;
    ///   `dataLossRefused` for references to objects that are neither copied nor in the target, unless the loss is accepted.
    init(
        _ options: TransferOptions, from source: ReadSession, to target: ReadSession?, _ model: MappedModel?,
        rejecting rejects: RejectedRows?, _ limit: WorkLimit?
    ) throws(StorageError) {
        self.init(source.schema)
        let selection = options.selection
        if selection.isAll { return }
        let entities = try Self.entities(of: selection, schema)
        try choose(entities, selection, source, model, rejects, limit)
        try findPresent(target, of: chosen.keys.sorted(), model, limit)
        let restricted = Set(chosen.keys), before = self
        for root in schema.roots {
            if !refers(root, to: restricted) { continue }
            try before.forEachRow(root, source) { batch throws(StorageError) in
                try limit?.check()
                follow(batch, selection.followsReferences)
            }
        }
        while let (root, keys) = waiting.popFirst() {
            try limit?.check()
            try Self.forEachRow(root, Self.bitmap(keys), source, needsAll: false) { follow($0, true) }
        }
        try refuseLosses(options.acceptedLosses)
        // A target with objects may have other members, so it is checked when all are there.
        if target == nil { try refuseTooFewMembers(source, accepted: options.acceptedLosses, limit) }
    }

    /// Whether all objects of a hierarchy are copied.
    func isWhole(_ root: EntityIndex) -> Bool { chosen[root] == nil }

    /// Whether everything is copied.
    var isAll: Bool { chosen.isEmpty }

    /// Returns whether an object is copied.
    func contains(_ key: Int64, _ entity: EntityIndex) -> Bool { chosen[schema[entity].root]?.contains(key) ?? true }

    /// Returns whether the target has an object after the transfer.
    func willExist(_ key: Int64, _ entity: EntityIndex) -> Bool {
        hasOthers || contains(key, entity) || wasPresent(key, entity)
    }

    /// Returns whether the target had an object before the transfer, as far as that was looked for.
    func wasPresent(_ key: Int64, _ entity: EntityIndex) -> Bool {
        schema[entity].family.contains { present[$0]?.contains(key) ?? false }
    }

    /// Returns the keys of the copied objects of a hierarchy; nil if all are copied.
    func keys(_ root: EntityIndex) -> KeyBitmap? { chosen[root] }

    /// Sets references of the rows of a batch to nil if their destinations will not exist.
    func cut(_ batch: RowBatch) {
        if cuts.isEmpty { return }
        for index in 0..<batch.count {
            let row = batch.row(index)
            for slot in cuts[row.entity] ?? [] where !row[slot].isNull {
                guard let destination = schema[row.entity].slots[slot].destination else { continue }
                if !willExist(row[slot].int, destination) { batch.mutableCells(index)[slot] = .null }
            }
        }
    }

    /// Passes the copied rows of a hierarchy that is not copied whole to `body`, in the order of their keys. Does nothing for others.
    func forEachChosenRow(
        _ root: EntityIndex, _ source: ReadSession, atMost rows: Int = 2048, bytes: Int = 8 << 20,
        _ body: (RowBatch) throws(StorageError) -> Void
    ) throws(StorageError) {
        guard let keys = chosen[root] else { return }
        try Self.forEachRow(root, keys, source, atMost: rows, bytes: bytes, body)
    }

    // MARK: Choosing

    /// Returns the entities whose objects are chosen.
    private static func entities(of selection: TransferSelection, _ schema: Schema) throws(StorageError) -> Set<EntityIndex> {
        func families(_ names: some Sequence<String>) throws(StorageError) -> Set<EntityIndex> {
            var found: Set<EntityIndex> = []
            for name in names.sorted() { found.formUnion(schema[try index(name, schema)].family) }
            return found
        }
        let all = try selection.only.map { names throws(StorageError) in try families(names) } ?? Set(schema.entities.indices)
        return all.subtracting(try families(selection.except))
    }

    private static func index(_ name: String, _ schema: Schema) throws(StorageError) -> EntityIndex {
        if let index = schema.index(of: name) { return index }
        let near = Suggestion.nearest(name, in: schema.entities.map(\.name))
        throw StorageError(.invalidConfiguration, "the source has no entity \"\(name.excerpt())\"\(near)")
    }

    /// Finds the keys of the chosen objects of each hierarchy that is not copied whole.
    private mutating func choose(
        _ entities: Set<EntityIndex>, _ selection: TransferSelection, _ source: ReadSession, _ model: MappedModel?,
        _ rejects: RejectedRows?, _ limit: WorkLimit?
    ) throws(StorageError) {
        var conditions: [(family: Set<EntityIndex>, predicate: CheckedPredicate)] = []
        for (name, predicate) in selection.conditions.sorted(by: { $0.key < $1.key }) {
            let family = Set(schema[try Self.index(name, schema)].family)
            if family.isDisjoint(with: entities) {
                throw StorageError(.invalidConfiguration, "there is a condition for \(name), whose objects are not copied")
            }
            do throws(QueryError) {
                conditions.append((family, try ObjectRequest(name, where: predicate).plan(in: schema).predicate))
            } catch {
                let error = StorageError(error)
                throw StorageError(error.code, "the condition for \(name): \(error.message)", details: error.details, cause: error)
            }
        }
        for root in schema.roots {
            let family = schema[root].family
            if entities.isSuperset(of: family), !conditions.contains(where: { !$0.family.isDisjoint(with: family) }) { continue }
            var keys = KeyBitmap()
            for entity in family where entities.contains(entity) && !schema[entity].isAbstract {
                let parts = conditions.filter { $0.family.contains(entity) }.map(\.predicate)
                let predicate = parts.count == 1 ? parts[0] : parts.isEmpty ? CheckedPredicate.constant(true) : .and(parts)
                let plan = FetchPlan(entity: entity, entities: [entity], predicate: predicate, fields: .keysOnly)
                do throws(StorageError) {
                    try source.attempt { () throws(StorageError) in try Self.forEachKey(plan, source, limit) { keys.insert($0) } }
                } catch {
                    guard let rejects, error.code == .valueNotStorable else { throw error }
                    let condition = SelectionCondition(entity, predicate, source, model, limit)
                    try condition.forEachKey(rejecting: rejects) { keys.insert($0) }
                }
            }
            chosen[root] = keys
        }
    }

    /// Finds the keys that the target has, of some hierarchies.
    mutating func findPresent(
        _ target: ReadSession?, of roots: [EntityIndex], _ model: MappedModel?, _ limit: WorkLimit?
    ) throws(StorageError) {
        guard let target else { return }
        for root in roots {
            for entity in schema[root].family where !schema[entity].isAbstract && present[entity] == nil {
                let index = model?.entities[entity] ?? entity
                present[entity] = try Self.keys(FetchPlan(entity: index, entities: [index], fields: .keysOnly), target, limit)
            }
        }
    }

    private static func bitmap(_ keys: [Int64]) -> KeyBitmap {
        var set = KeyBitmap()
        for key in keys { set.insert(key) }
        return set
    }

    static func keys(_ plan: FetchPlan, _ session: ReadSession, _ limit: WorkLimit?) throws(StorageError) -> KeyBitmap {
        var keys = KeyBitmap()
        try forEachKey(plan, session, limit) { keys.insert($0) }
        return keys
    }

    static func forEachKey(
        _ plan: FetchPlan, _ session: ReadSession, _ limit: WorkLimit?, _ body: (Int64) -> Void
    ) throws(StorageError) {
        let cursor = try session.cursor(for: plan), batch = RowBatch(capacity: 8192)
        while try cursor.next(into: batch) {
            try limit?.check()
            for index in 0..<batch.count { body(batch.key(index)) }
        }
    }

    // MARK: References

    /// Finds the references of rows to objects that are neither chosen nor present, and chooses those objects if references are followed.
    mutating func follow(_ batch: RowBatch, _ followsReferences: Bool) {
        for index in 0..<batch.count {
            let row = batch.row(index), slots = schema[row.entity].slots
            for slot in slots.indices {
                guard let destination = slots[slot].destination, !row[slot].isNull else { continue }
                let key = row[slot].int, root = schema[destination].root
                if willExist(key, destination) { continue }
                if followsReferences {
                    chosen[root]?.insert(key)
                    waiting[root, default: []].append(key)
                } else {
                    removedReferences["\(schema[row.entity].name).\(slots[slot].name)", default: 0] += 1
                    if cuts[row.entity]?.contains(slot) != true { cuts[row.entity, default: []].append(slot) }
                }
            }
        }
    }

    /// Returns whether rows of a hierarchy can refer to some hierarchies. Not inlined: the optimiser of Swift 6.3.1 fails on it inside `init`.
    @inline(never) func refers(_ root: EntityIndex, to roots: Set<EntityIndex>) -> Bool {
        for entity in schema[root].family {
            for slot in schema[entity].slots {
                if let destination = slot.destination, roots.contains(schema[destination].root) { return true }
            }
        }
        return false
    }

    /// Whether a reference must not be nil. Not inlined for the same reason.
    @inline(never) static func isRequired(_ slot: Slot) -> Bool {
        switch slot.content {
        case .toOne(let relationship, _): !relationship.isOptional
        case .attribute: false
        }
    }

    /// Refuses references that would become nil, unless they may.
    private func refuseLosses(_ accepted: Set<String>) throws(StorageError) {
        for (entity, slots) in cuts {
            for slot in slots {
                let description = schema[entity].slots[slot], name = "\(schema[entity].name).\(description.name)"
                if !Self.isRequired(description) { continue }
                throw StorageError(
                    .dataLossRefused,
                    "\(removedReferences[name] ?? 0) objects would refer by \(name), which is required, to objects that are not copied; copy "
                        + "these as well (--closure)", details: .init(entity: schema[entity].name, property: description.name))
            }
        }
        let lost = removedReferences.filter { !accepted.contains($0.key) }.sorted { $0.key < $1.key }
        if lost.isEmpty { return }
        let counts = lost.map { "\($0.key) of \($0.value) objects" }.joined(separator: ", ")
        let options = lost.map { "--accept-loss '\($0.key)'" }.joined(separator: " ")
        throw StorageError(
            .dataLossRefused,
            "\(counts) would become nil because the objects that they refer to are not copied; copy these as well (--closure), or accept the "
                + "loss with \(options)")
    }

    // MARK: Reading

    /// Passes the chosen rows of a hierarchy to `body`, at least with their references.
    func forEachRow(
        _ root: EntityIndex, _ source: ReadSession, _ body: (RowBatch) throws(StorageError) -> Void
    ) throws(StorageError) {
        if let keys = chosen[root] { return try Self.forEachRow(root, keys, source, needsAll: false, body) }
        let cursor = try source.cursor(for: FetchPlan(schema, root, fields: .some(SlotMask()))), batch = RowBatch(capacity: 1024)
        while try cursor.next(into: batch) { try body(batch) }
    }

    /// Passes rows to `body`.
    ///
    /// - Parameter needsAll: Whether all values are needed. Otherwise rows with values that cannot be read have only their references.
    private static func forEachRow(
        _ root: EntityIndex, _ keys: KeyBitmap, _ source: ReadSession, atMost rows: Int = 2048, bytes most: Int = 8 << 20,
        needsAll: Bool = true, _ body: (RowBatch) throws(StorageError) -> Void
    ) throws(StorageError) {
        // Large rows are read in smaller blocks.
        let rows = min(rows, 2048)
        var size = min(rows, 256)
        let batch = RowBatch(capacity: rows)
        try keys.forEach({ size }) { keys throws(StorageError) in
            batch.clear()
            do throws(StorageError) {
                try source.attempt { () throws(StorageError) in try source.rows(root, keys: keys, into: batch) }
            } catch {
                if needsAll || error.code != .valueNotStorable { throw error }
                return try forEachReference(root, keys, source, body)
            }
            let bytes = Self.bytes(of: batch, source.schema)
            size = bytes > most / 2 ? max(1, size / 2) : min(rows, size * 2)
            try body(batch)
        }
    }

    private static func forEachReference(
        _ root: EntityIndex, _ keys: [Int64], _ source: ReadSession, _ body: (RowBatch) throws(StorageError) -> Void
    ) throws(StorageError) {
        let plan = FetchPlan(source.schema, root, keys: keys, fields: .some(SlotMask()))
        let cursor = try source.cursor(for: plan), batch = RowBatch(capacity: keys.count)
        while try cursor.next(into: batch) { try body(batch) }
    }

    private static func bytes(of batch: RowBatch, _ schema: Schema) -> Int {
        var bytes = 0
        for index in 0..<batch.count {
            let row = batch.row(index)
            for slot in schema[row.entity].slots.indices where row[slot].kind == .text || row[slot].kind == .blob {
                bytes += Int(row[slot].length)
            }
        }
        return bytes
    }
}
