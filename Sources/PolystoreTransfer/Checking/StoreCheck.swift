internal import PolystoreStorage

/// Checks a store as a whole: that its rows can be decoded, that references and pairs have destinations, that both ends of a relationship
/// and each index agree with the rows, that key counters are above the keys, and that the history can be read.
///
/// It reads everything about three times. The memory that it needs is that of the gaps between the primary keys.
struct StoreCheck {
    let session: ReadSession
    let limit: WorkLimit?
    private let report: TransferEngine.Report?
    /// The rows that were read; nil before the first one.
    private(set) var progress: WorkProgress?
    /// The objects that a repair removes. They count as missing, and violations that end with them are not passed on.
    let removed: RemovedObjects
    /// The tables whose indexes are damaged.
    private(set) var damagedTables: Set<String> = []
    /// The tables with an index that their rows prevent.
    private var blockedTables: Set<String> = []
    /// The primary keys that several rows of a hierarchy have, so that none of these rows can be changed.
    private var sharedKeys: [EntityIndex: Set<Int64>] = [:]
    /// Whether versions and positions are checked for room for later ones.
    private(set) var checksLimits = false
    /// Whether the rules of relationships and texts are checked too.
    private var checksRules = false
    /// The objects without a required destination, by the slot of a to-one relationship.
    private var lacking: [LackingSlot: [Int64: RepairStep.Row]] = [:]
    /// Whether an object is kept only because another one refers to it.
    private(set) var dependsOnReferences = false
    /// The keys of each hierarchy, and of each entity of a hierarchy with several.
    private var keys: [EntityIndex: KeySet] = [:]
    private var entityKeys: [EntityIndex: KeyBitmap] = [:]
    private var counts: [EntityIndex: Int] = [:]
    var schema: Schema { session.schema }

    /// The number of objects that are looked up at once.
    static let blockSize = 1024

    init(
        _ session: ReadSession, _ limit: WorkLimit?, _ report: TransferEngine.Report? = nil,
        without removed: RemovedObjects = RemovedObjects()
    ) {
        self.session = session
        self.limit = limit
        self.report = report
        self.removed = removed
    }

    /// Passes each violation to `body`.
    mutating func findings(_ body: (CheckFinding) throws(StorageError) -> Void) throws(StorageError) {
        checksLimits = session.storedForms != nil
        checksRules = true
        try checkDamage(body)
        let sharedKeys = sharedKeys, schema = schema
        func pass(_ finding: CheckFinding) throws(StorageError) {
            let isShared = finding.step?.object.map { sharedKeys[schema[$0.entity].root]?.contains($0.key) ?? false } ?? false
            try body(isShared ? finding.unmended : finding)
        }
        try objectFindings(pass)
        for link in schema.links.indices where !damagedTables.contains(schema.links[link].name) { try checkSides(link, body) }
        if session.storedForms == nil { for description in schema.descriptions { try checkIndexes(description, body) } }
        try checkHistory(body)
    }

    /// Checks the file and the indexes by the store's own means.
    private mutating func checkDamage(_ body: (CheckFinding) throws(StorageError) -> Void) throws(StorageError) {
        guard let stored = session.storedForms else {
            do throws(StorageError) { try session.store.ability((any CheckedStorage).self)?.check() } catch  where error.code == .corrupted
            {
                try body(CheckFinding("store", nil, nil, error.message, isOfFile: true))
            }
            return
        }
        var tables: Set<String> = [], blocked: Set<String> = [], shared: [EntityIndex: Set<Int64>] = [:], stuck: Set<String> = []
        try stored.damages { damage throws(StorageError) in
            try limit?.check()
            switch damage.part {
            case .file: try body(CheckFinding("store", nil, nil, damage.sentence, isOfFile: true))
            case .unmended(let table): try body(CheckFinding(table ?? "store", nil, nil, damage.sentence))
            case .indexes(let table, let unique):
                tables.insert(table)
                let isBlocked = unique.map(blocked.contains) ?? false
                if isBlocked { stuck.insert(table) }
                try body(CheckFinding(table, nil, nil, damage.sentence, isBlocked ? nil : .rebuildIndexes(table: table)))
            case .duplicates(let index, let constraint, let keys):
                if try checkDuplicates(constraint, keys, body) { blocked.insert(index) }
            case .key(let root, let key):
                shared[root, default: []].insert(key)
                try body(CheckFinding(name(root), key, nil, damage.sentence))
            case .ranks(let link, let owner):
                let description = schema.links[link], step = RepairStep.renumber(link: link, owner: owner)
                try body(CheckFinding(name(description.owner), owner, description.ownerRelationship, damage.sentence, step))
            }
        }
        damagedTables = tables
        sharedKeys = shared
        blockedTables = stuck
    }

    /// Passes objects that have the same values under a unique constraint to `body`, apart from the first one. Returns whether there are any
    /// that the repair does not remove.
    ///
    /// The wrong one of these objects is not known, so no repair changes them.
    private func checkDuplicates(
        _ constraint: ResolvedConstraint, _ keys: [Int64], _ body: (CheckFinding) throws(StorageError) -> Void
    ) throws(StorageError) -> Bool {
        let entity = schema[constraint.declaredIn], left = keys.filter { !removed.contains($0, root: entity.root) }
        guard left.count > 1, let first = left.first else { return false }
        let property = constraint.slots.count == 1 ? entity.slots[constraint.slots[0]].name : nil
        // Rows can also have the same primary key, which is a violation of its own.
        for key in left.dropFirst() where key != first {
            let sentence = "has the same values as object \(first) under the unique constraint \(constraint.name)"
            try body(CheckFinding(name(entity.index), key, property, sentence, code: .uniqueConstraintViolated))
        }
        return true
    }

    /// A slot of the objects of a hierarchy.
    private struct LackingSlot: Hashable {
        let root: EntityIndex
        let slot: Int
    }

    /// Passes each violation of the objects and their relationships to `body`, apart from indexes, the history and rules of relationships and
    /// texts.
    mutating func objectFindings(_ body: (CheckFinding) throws(StorageError) -> Void) throws(StorageError) {
        // Each row is read with its values and again for its references.
        progress = WorkProgress(reading: [session], times: 2, report)
        for root in schema.roots { try checkRows(root, body) }
        for root in schema.roots { try checkReferences(root, body) }
        if checksRules { try checkLacking(body) }
        for link in schema.links.indices { try checkPairs(link, body) }
        for root in schema.roots { try checkOrders(root, body) }
        if checksRules { try checkCounts(body) }
    }

    /// Returns whether an object of an entity or one of its sub-entities exists.
    func exists(_ key: Int64, _ entity: EntityIndex) -> Bool {
        let root = schema[entity].root, family = schema[entity].family
        if family.count == schema[root].family.count { return keys[root]?.contains(key) ?? false }
        return family.contains { entityKeys[$0]?.contains(key) ?? false }
    }

    func name(_ entity: EntityIndex) -> String { schema.entities[entity].name }

    /// Checks that each value of each row can be decoded and that required values are not nil, and collects the keys.
    private mutating func checkRows(
        _ root: EntityIndex, _ body: (CheckFinding) throws(StorageError) -> Void
    ) throws(StorageError) {
        var found = KeySet(), count = 0, last: Int64?
        var rows = try CheckedRows(session, root)
        while true {
            for row in rows.takeUnreadable() {
                count += 1
                last = row.key
                // The entity of the row is not known.
                if !removed.contains(row.key, root: root) { add(row.key, root, schema[root].family, &found) }
                try body(CheckFinding(name(root), row.key, nil, row.sentence, try unreadableStep(root, row.key)))
            }
            guard let key = rows.key else { break }
            count += 1
            last = key
            if count % Self.blockSize == 0 {
                try limit?.check()
                progress?.add(Self.blockSize, of: name(root))
            }
            if !removed.contains(key, root: root) { add(key, root, [rows.entity], &found) }
            if checksLimits { try checkVersion(rows.row, body) }
            for (index, slot) in schema[rows.entity].slots.enumerated() {
                if let (sentence, step) = Self.violation(rows.cell(index), slot, index, rows.row, root) {
                    let code: StorageError.Code = if case .delete = step { .validationFailed } else { .corrupted }
                    try body(CheckFinding(name(rows.entity), key, slot.name, sentence, step, code: code))
                } else if checksRules {
                    try checkRules(rows.cell(index), slot, index, rows.row, root, body)
                }
            }
            try rows.advance()
        }
        keys[root] = found
        let counted = try Contents(session).count(root)
        counts[root] = count
        if counted != count {
            let sentence = "the store counts \(counted) objects but has \(count)"
            try body(CheckFinding(name(root), nil, nil, sentence, rebuilding(root)))
        }
        if let last, let next = try session.nextKey(root), next <= last {
            let sentence = "the key counter is at \(next) although object \(last) exists"
            try body(CheckFinding(name(root), nil, nil, sentence, last < .max ? .raiseKeys(root, above: last) : nil))
        }
        if let next = try session.nextKey(root), next == .max, last ?? 0 < .max - 1 {
            try body(CheckFinding(name(root), nil, nil, "the key counter is at \(next), which leaves no keys for new objects", nil))
        }
    }

    /// Checks that the version of a row is one that changes can increment.
    private func checkVersion(_ row: RepairStep.Row, _ body: (CheckFinding) throws(StorageError) -> Void) throws(StorageError) {
        if row.version > 0, row.version < .max { return }
        let sentence =
            row.version < 1 ? "the version of the object is not positive" : "the version of the object is the last one, so it cannot change"
        // No reader has seen the version that replaces the last one.
        try body(CheckFinding(name(row.entity), row.key, nil, sentence, .setVersion(row, to: row.version < 1 ? 1 : 1 << 62)))
    }

    private mutating func add(_ key: Int64, _ root: EntityIndex, _ entities: [EntityIndex], _ found: inout KeySet) {
        found.append(key)
        if schema[root].family.count > 1 { for entity in entities { entityKeys[entity, default: KeyBitmap()].insert(key) } }
    }

    private func rebuilding(_ root: EntityIndex) -> RepairStep? {
        // The engine can count the entries of an index that is not rebuilt.
        session.storedForms == nil || blockedTables.contains(name(root)) ? nil : .rebuildIndexes(table: name(root))
    }

    /// Returns the removal of a row that cannot be decoded; nil if it cannot be saved before.
    private func unreadableStep(_ root: EntityIndex, _ key: Int64) throws(StorageError) -> RepairStep? {
        do throws(StorageError) {
            return try session.storedForms?.storedRow(root, key: key).isEmpty == false ? .removeRow(root, key: key) : nil
        } catch  where error.code == .corrupted { return nil }
    }

    /// Returns a sentence for a cell that violates the type of its slot or is nil although required, and the change that mends it.
    private static func violation(
        _ cell: Cell, _ slot: Slot, _ index: Int, _ row: RepairStep.Row, _ root: EntityIndex
    ) -> (String, RepairStep)? {
        guard let value = Value(cell, as: slot.type) else {
            let isOptional = slot.attribute?.isOptional ?? slot.isOptionalReference
            return ("the value contains ill-formed bytes", isOptional ? .clearValue(row, slot: index) : .removeRow(root, key: row.key))
        }
        guard value.isNull, let attribute = slot.attribute, !attribute.isOptional else { return nil }
        return ("the attribute is required but nil", .delete(row))
    }

    /// Checks that a text is one that an attribute can have, and notes a required reference that is nil.
    private mutating func checkRules(
        _ cell: Cell, _ slot: Slot, _ index: Int, _ row: RepairStep.Row, _ root: EntityIndex,
        _ body: (CheckFinding) throws(StorageError) -> Void
    ) throws(StorageError) {
        if case .toOne(let relationship, _) = slot.content {
            if !cell.isNull || relationship.isOptional { return }
            if inverseSlot(row.entity, slot) == nil { return try body(lacking(row, slot)) }
            lacking[LackingSlot(root: root, slot: index), default: [:]][row.key] = row
        } else if slot.type == .string, !cell.isNull, cell.bytes.contains(0) {
            // What the text should be is not known, so no repair changes it.
            try body(CheckFinding(name(row.entity), row.key, slot.name, "the text contains U+0000, which no text may"))
        }
    }

    /// Passes the objects without a required destination to `body`, apart from those to which the other end of a one-to-one relationship
    /// refers: the missing reference is a violation at that end.
    private func checkLacking(_ body: (CheckFinding) throws(StorageError) -> Void) throws(StorageError) {
        for (place, rows) in lacking.sorted(by: { ($0.key.root, $0.key.slot) < ($1.key.root, $1.key.slot) }) {
            for row in rows.values.sorted(by: { $0.key < $1.key }) { try body(lacking(row, schema[row.entity].slots[place.slot])) }
        }
    }

    private func lacking(_ row: RepairStep.Row, _ slot: Slot) -> CheckFinding {
        let sentence = "the relationship is required but nil"
        return CheckFinding(name(row.entity), row.key, slot.name, sentence, .delete(row), code: .validationFailed)
    }

    /// Checks that references have destinations, and that the other end of a one-to-one relationship refers back.
    private mutating func checkReferences(
        _ root: EntityIndex, _ body: (CheckFinding) throws(StorageError) -> Void
    ) throws(StorageError) {
        var rows = try CheckedRows(session, root), partners = CheckedPartners(self), count = 0
        while let key = rows.key {
            count += 1
            if count % Self.blockSize == 0 { progress?.add(Self.blockSize, of: name(root)) }
            let isRemoved = removed.contains(key, root: root)
            for (index, slot) in schema[rows.entity].slots.enumerated() where !isRemoved || !slot.isOptionalReference {
                guard let destination = slot.destination, !rows.cell(index).isNull else { continue }
                let other = rows.cell(index).int, mending = clearing(rows.row, slot, index)
                if !exists(other, destination) {
                    let sentence = "refers to object \(other) of \(name(destination)), which \(missing(other, destination))"
                    try body(CheckFinding(name(rows.entity), key, slot.name, sentence, mending))
                } else if let inverse = inverseSlot(rows.entity, slot) {
                    let end = LackingSlot(root: schema[destination].root, slot: inverse)
                    if !isRemoved, lacking[end]?.removeValue(forKey: other) != nil { dependsOnReferences = true }
                    let reference = CheckedPartners.Reference(
                        entity: name(rows.entity), property: slot.name, key: key, other: other, mending: mending, isRemoved: isRemoved)
                    try partners.add(reference, destination, inverse, body)
                }
            }
            try rows.advance()
        }
        try partners.flush(body)
    }

    /// Returns the change that removes a wrong reference: the reference if it is optional, else its object.
    private func clearing(_ row: RepairStep.Row, _ slot: Slot, _ index: Int) -> RepairStep {
        slot.isOptionalReference ? .setReference(row, slot: index, to: nil) : .delete(row)
    }

    /// Returns what a sentence says of an object that is not found.
    func missing(_ key: Int64, _ entity: EntityIndex) -> String {
        removed.contains(key, root: schema[entity].root) ? "the repair removes" : "does not exist"
    }

    /// Returns the slot of the destination that is the other end of a one-to-one relationship.
    private func inverseSlot(_ entity: EntityIndex, _ slot: Slot) -> Int? {
        guard case .toOne(let relationship, let destination) = slot.content, let name = relationship.inverse,
            case .slot(let inverse)? = schema[destination].relationship(name)?.place
        else { return nil }
        return inverse
    }

    /// Checks that each index returns the objects of its entity, all of them and each once.
    private func checkIndexes(
        _ description: EntityDescription, _ body: (CheckFinding) throws(StorageError) -> Void
    ) throws(StorageError) {
        let indexed = Set(description.indexes.compactMap(\.first) + description.uniqueConstraints.compactMap(\.slots.first))
        if indexed.isEmpty { return }
        let expected = try keyDigest(description, orderedBy: nil)
        for slot in indexed.sorted() where description.slots[slot].attribute != nil {
            let property = description.slots[slot].name
            if try keyDigest(description, orderedBy: property) != expected {
                try body(CheckFinding(description.name, nil, property, "the index has other objects than the table"))
            }
        }
    }

    private func keyDigest(_ description: EntityDescription, orderedBy property: String?) throws(StorageError) -> Digest {
        var plan: FetchPlan
        do throws(QueryError) {
            let order = property.map { [OrderTerm(PropertyPath([$0]))] } ?? []
            plan = try ObjectRequest(description.name, orderBy: order).plan(in: schema)
        } catch { throw StorageError(error) }
        plan.fields = .keysOnly
        var digest = Digest()
        let cursor = try session.cursor(for: plan), batch = RowBatch(capacity: Self.blockSize)
        while try cursor.next(into: batch) {
            try limit?.check()
            progress?.addFurther(batch.count, of: "the indexes of \(description.name)")
            for index in 0..<batch.count { digest.add(LinkPair(owner: batch.key(index), rank: 0, member: 0), position: 0) }
        }
        return digest
    }
}

extension Slot {
    /// Whether the slot is that of a to-one relationship that may be nil.
    fileprivate var isOptionalReference: Bool { if case .toOne(let relationship, _) = content { relationship.isOptional } else { false } }
}
