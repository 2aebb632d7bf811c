internal import PolystoreStorage

/// The rows of an insertion or upsert under construction. Their objects are in no identity map, until the store has decided about them.
struct RowBuilder {
    /// The maximum number of rows per write to the store, and the number of bytes of their values at which they are written.
    private static let mostRows = 4096, usualBytes = 4 << 20

    private let transaction: WriteTransaction
    private let target: CreationTarget
    /// The constraint of an upsert; nil for an insertion.
    private let constraint: ResolvedConstraint?
    private let context: ObjectContext
    private let description: EntityDescription
    private var waiting = ContiguousArray<ManagedObject>()
    /// The assigned slots of the waiting objects.
    private var masks: [SlotMask] = []
    private var failures: [ValidationFailure] = []
    /// The rows of the waiting objects.
    private var rows = RowBatch(capacity: 64)
    private var unique: Set<[Value]> = []
    private let scratch = RowBatch(capacity: 1)
    private(set) var results: [(key: ObjectKey, isInserted: Bool)] = []

    init(_ transaction: WriteTransaction, _ target: CreationTarget, unique names: [String]?) throws(StorageError) {
        self.transaction = transaction
        self.target = target
        context = transaction.context
        description = context.model.schema[target.entity]
        guard let names else {
            constraint = nil
            return
        }
        let slots = description.slots, entity = description.name
        guard let found = description.uniqueConstraints.first(where: { Set($0.slots.map { slots[$0].name }) == Set(names) }) else {
            let there = description.uniqueConstraints.map(\.name).joined(separator: ", ")
            throw StorageError(
                .invalidConfiguration,
                "\(entity) has no unique constraint on \(names.joined(separator: ", ")); its unique constraints: \(there.isEmpty ? "none" : there)",
                details: .init(entity: entity))
        }
        constraint = found
    }

    /// Returns an object for the next source.
    mutating func next() throws(StorageError) -> ManagedObject {
        let key = try transaction.nextKey(target)
        let object = target.type.init(_new: key, target.entity, context)
        object._flags |= ManagedObject.Flags.rowOnly
        // The values of the row that may exist are not read: the context refuses an attribute that is read before it is assigned.
        if constraint != nil { object._flags |= ManagedObject.Flags.slow }
        // An entry under its address belongs to an object that was released.
        context.tracker?.highSlots[ObjectIdentifier(object)] = nil
        return object
    }

    /// Adds an object to the waiting rows.
    mutating func add(_ object: ManagedObject) throws(StorageError) {
        try context.throwFailure()
        object._flags &= ~ManagedObject.Flags.slow
        let mask = context.tracker?.mask(object) ?? SlotMask()
        // The store decides which object of an upsert has the reference, and which one had another before.
        if constraint != nil, let slot = mask.slots.first(where: { description.slots[$0].destination != nil }) {
            let error = ObjectContext.unsupportedInBatches(description.name, description.slots[slot].name)
            context.fail(error)
            throw error
        }
        encode(object)
        if let constraint {
            let row = rows.row(rows.count - 1)
            let values = constraint.slots.map { Value(row[$0], as: description.slots[$0].type) ?? .null }
            // One statement must not write a row twice.
            if !values.contains(.null), !unique.insert(values).inserted {
                rows.removeLastRow()
                try flush()
                encode(object)
                unique.insert(values)
            }
        }
        validate(object)
        waiting.append(object)
        masks.append(mask)
        // What is assigned from now on would not be written.
        object._dirty = 0
        object._flags |= ManagedObject.Flags.taken
        context.tracker?.highSlots[ObjectIdentifier(object)] = nil
        if waiting.count == Self.mostRows || rows.copiedBytes >= Self.usualBytes { try flush() }
    }

    private func encode(_ object: ManagedObject) {
        let cells = rows.appendRow(key: object._key, version: 1, entity: target.entity, slots: description.slots.count)
        object._encode(cells, rows, .max)
    }

    /// Returns a source of some of the rows.
    private func source(_ range: Range<Int>) -> RowSource {
        let rows = rows, entity = target.entity, slots = description.slots.count
        return RowSource(count: range.count) { part, batch in
            for index in part {
                let row = rows.row(range.lowerBound + index)
                let cells = batch.appendRow(key: row.key, version: row.version, entity: entity, slots: slots)
                for slot in 0..<slots { cells[slot] = row[slot] }
            }
        }
    }

    /// Writes the waiting rows to the store. Rows that assign the same attributes are written together.
    mutating func flush() throws(StorageError) {
        if waiting.isEmpty { return }
        try context.throwFailure()
        if let error = ValidationFailure.error(failures) { throw error }
        try context.checkReferences(of: waiting)
        try checkDestinations()
        // Pending changes of other objects are written first: objects that are also changed here are read again afterwards.
        try context.flush()
        guard let tracker = context.tracker, let sessions = context.sessions else { throw SessionPool.ended }
        if let constraint {
            try upsert(constraint, tracker, sessions)
        } else {
            try insert(tracker, sessions)
        }
        try context.refresh(changed, description.root, target.store)
        try keepUnchecked(tracker)
        changed.removeAll()
        waiting.removeAll(keepingCapacity: true)
        masks.removeAll(keepingCapacity: true)
        // A session may keep the source of the written rows until the commit.
        rows = RowBatch(capacity: 64)
        unique.removeAll(keepingCapacity: true)
    }

    private mutating func insert(_ tracker: ChangeTracker, _ sessions: SessionPool) throws(StorageError) {
        let changes = EntityChanges(entity: target.entity, inserts: source(0..<waiting.count))
        try sessions.apply(ChangeSet(entities: [changes]), to: target.store)
        addToDestinations(tracker)
        take(waiting.map { UpsertedRow(key: $0._key, entity: target.entity, isInserted: true) }, tracker)
    }

    /// The slots of to-one relationships with the positions of their inverses.
    private var references: [(slot: Int, destination: EntityIndex, inverse: Int?)] {
        description.slots.indices.compactMap { slot in
            guard let destination = description.slots[slot].destination else { return nil }
            if case .toMany(let inverse) = context.model.inverses[target.entity][slot] { return (slot, destination, inverse) }
            return (slot, destination, nil)
        }
    }

    /// Throws if an object was deleted, or its creation undone, after the object of a waiting row was given a reference to it.
    private func checkDestinations() throws(StorageError) {
        if context.rowDestinations.isEmpty { return }
        let written = Set(waiting.map(ObjectIdentifier.init))
        let assigned = context.rowDestinations.filter { written.contains(ObjectIdentifier($0.object)) }
        context.rowDestinations.removeAll { written.contains(ObjectIdentifier($0.object)) }
        for (object, slot, destination) in assigned where destination.isDeletedObject && object._reference(slot) == destination._key {
            let property = description.slots[slot].name
            throw StorageError(
                .validationFailed, "\(description.name).\(property) was assigned an object that was deleted in this transaction",
                details: .init(entity: description.name, property: property, keys: [object._key]))
        }
    }

    /// Adds the written rows to the known members of the objects that they reference.
    private func addToDestinations(_ tracker: ChangeTracker) {
        for (slot, destination, inverse) in references {
            guard let inverse else { continue }
            let known = context.identityMap(destination, target.store), root = context.model.schema[destination].root
            for object in waiting {
                guard let key = object._reference(slot) else { continue }
                if let owner = known.find(key) { context.add(object._key, to: owner, inverse) }
                if context.model.hasCounts { tracker.recount(target.store, root, key, inverse) }
            }
        }
    }

    private mutating func upsert(
        _ constraint: ResolvedConstraint, _ tracker: ChangeTracker, _ sessions: SessionPool
    ) throws(StorageError) {
        var start = 0
        while start < waiting.count {
            let mask = masks[start]
            var end = start + 1
            while end < waiting.count, masks[end] == mask { end += 1 }
            let upsert = RowUpsert(entity: target.entity, constraint: constraint, mask: mask, rows: source(start..<end))
            let rows = try sessions.upsert(upsert, to: target.store)
            tracker.assign(mask, of: rows.lazy.map(\.key), in: context.identityMap(description.root, target.store))
            take(rows, tracker)
            start = end
        }
    }

    private var changed: Set<Int64> = []

    private mutating func take(_ rows: [UpsertedRow], _ tracker: ChangeTracker) {
        let root = context.model.schema.entities[description.root].name, store = context.stack.storeID(target.store)
        tracker.written.rows.isWritten = true
        let counts = context.model.rules[target.entity]?.counts ?? []
        for row in rows {
            if row.isInserted {
                // A new object has no members. Required ones must exist by the commit.
                for rule in counts { tracker.recount(target.store, description.root, row.key, rule.relationship) }
            }
            results.append((ObjectKey(store: store, root: root, key: row.key), row.isInserted))
            if row.isInserted {
                tracker.written.rows.counts.inserted += 1
            } else {
                tracker.written.rows.counts.updated += 1
                changed.insert(row.key)
            }
        }
    }

    /// Lets the commit validate the objects that were updated, if their classes have rules of their own: these also concern attributes that
    /// are not assigned.
    private func keepUnchecked(_ tracker: ChangeTracker) throws(StorageError) {
        let family = context.model.schema[description.root].family
        if changed.isEmpty || !family.contains(where: { context.model.rules[$0]?.isCustom == true }) { return }
        for object in try context.objects(description.root, changed.sorted(), target.store) {
            if context.model.rules[Int(object._entity)]?.isCustom == true { tracker.written.upserted.append(object) }
        }
    }

    /// Validates the rules of the model and collects the failures. An attribute that is not assigned has its default, which an existing
    /// object need not have but a new one would.
    private mutating func validate(_ object: ManagedObject) {
        guard let rules = context.model.rules[target.entity] else { return }
        rules.check(object, unassigned: context.tracker?.unassigned(object, rules) ?? SlotMask(), scratch, &failures)
    }
}
