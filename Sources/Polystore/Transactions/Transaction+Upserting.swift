internal import PolystoreStorage

/// What became of a source of an upsert.
public struct UpsertedID<Object: ManagedObject>: Sendable, Hashable {
    /// The object that has the values now.
    public let id: ObjectID<Object>
    /// Whether the upsert made it; otherwise it was there and was changed.
    public let isInserted: Bool
}

extension Transaction {
    /// Writes values under a unique constraint: the object that has the unique values gets what is assigned, and where there is none it is
    /// made. The store decides, in one statement where it has one, and no object is read.
    ///
    /// ```swift
    /// try transaction.upsertAll(Into<Person>(), on: \.email, sources: rows) { person, row in
    ///     person.email = row.email
    ///     person.name = row.name
    /// }
    /// ```
    /// An object that is there keeps what the closure does not assign. Where its present values matter, such as for a counter, use
    /// `importUniqueObjects`, which reads them. Sources take effect one after the other, so of equal ones the last has the last word.
    /// - Parameters:
    ///   - into: The class, and the store where several hold its entity.
    ///   - unique: The attributes of one of the entity's unique constraints.
    ///   - sources: What the values are taken from.
    ///   - assign: Assigns the attributes of one source to an object that is not in the store and has the defaults; it assigns no
    ///     relationships. `willSave` is not called.
    /// - Returns: What became of each source, in their order.
    /// - Throws: `invalidConfiguration` when the attributes are not those of a unique constraint; `validationFailed`,
    ///   `uniqueConstraintViolated` for another constraint; what the closure throws.
    @discardableResult
    public func upsertAll<Object: ManagedObject, Source, each Property>(
        _ into: Into<Object>, on unique: repeat KeyPath<Object, each Property>, sources: some Sequence<Source>,
        assign: (_ object: Object, _ source: Source) throws -> Void
    ) throws -> [UpsertedID<Object>] {
        var names: [String] = []
        for keyPath in repeat each unique { names.append(try KeyPathProbe.resolve(keyPath).description) }
        _ = try _fetchContext
        var upserting = try Upserting(self, try target(into), names)
        for source in sources {
            let object = try upserting.next()
            try assign(unsafeDowncast(object, to: Object.self), source)
            try upserting.add(object)
        }
        try upserting.flush()
        return upserting.results.map { UpsertedID(id: ObjectID($0.key), isInserted: $0.isInserted) }
    }
}

/// An upsert that is being put together: objects that are in no map, until the store has decided what they are.
struct Upserting {
    /// So many rows go to the store at once.
    private static let batch = 4096

    private let transaction: Transaction
    private let target: CreationTarget
    private let constraint: ResolvedConstraint
    private let context: ObjectContext
    private let description: EntityDescription
    private var waiting = ContiguousArray<ManagedObject>()
    private var unique: Set<[Value]> = []
    private let scratch = RowBatch(capacity: 1)
    private(set) var results: [(key: ObjectKey, isInserted: Bool)] = []

    init(_ transaction: Transaction, _ target: CreationTarget, _ names: [String]) throws(StorageError) {
        self.transaction = transaction
        self.target = target
        context = transaction.context
        description = context.model.schema[target.entity]
        let slots = description.slots, entity = description.name
        guard let found = description.uniqueConstraints.first(where: { Set($0.slots.map { slots[$0].name }) == Set(names) }) else {
            let there = description.uniqueConstraints.map(\.name).joined(separator: ", ")
            throw StorageError(
                .invalidConfiguration,
                "\(entity) has no unique constraint of \(names.joined(separator: ", ")); it has \(there.isEmpty ? "none" : there)",
                details: .init(entity: entity))
        }
        constraint = found
    }

    /// An object for the next source.
    mutating func next() throws(StorageError) -> ManagedObject {
        let key = try transaction.nextKey(target)
        return target.type.init(_new: key, target.entity, context)
    }

    /// Takes the object up.
    mutating func add(_ object: ManagedObject) throws(StorageError) {
        try context.throwFailure()
        if let slot = mask(object).slots.first(where: { description.slots[$0].destination != nil }) {
            let error = StorageError(
                .unsupported,
                "an upsert assigns attributes; \(description.name).\(description.slots[slot].name) is a relationship: use importUniqueObjects",
                details: .init(entity: description.name, property: description.slots[slot].name))
            context.fail(error)
            throw error
        }
        scratch.clear()
        let cells = scratch.appendRow(key: object._key, version: 1, entity: target.entity, slots: description.slots.count)
        object._encode(cells, scratch, .max)
        let values = constraint.slots.map { Value(cells[$0], as: description.slots[$0].type) ?? .null }
        // One statement may not write a row twice.
        if !values.contains(.null), !unique.insert(values).inserted {
            try flush()
            unique.insert(values)
        }
        waiting.append(object)
        if waiting.count == Self.batch { try flush() }
    }

    /// The slots that were assigned.
    private func mask(_ object: ManagedObject) -> SlotMask { context.tracker?.mask(object) ?? SlotMask() }

    /// Brings what is waiting to the store; those that assign the same attributes go together.
    mutating func flush() throws(StorageError) {
        if waiting.isEmpty { return }
        try validate()
        guard let tracker = context.tracker, let sessions = context.sessions else { throw SessionPool.ended }
        var start = 0
        while start < waiting.count {
            let mask = mask(waiting[start])
            var end = start + 1
            while end < waiting.count, self.mask(waiting[end]) == mask { end += 1 }
            let rows = tracker.source(ContiguousArray(waiting[start..<end]), target.entity, description.slots.count) { _ in .max }
            let upsert = RowUpsert(entity: target.entity, constraint: constraint, mask: mask, rows: rows)
            take(try sessions.upsert(upsert, to: target.store), tracker)
            start = end
        }
        for object in waiting { tracker.highSlots[ObjectIdentifier(object)] = nil }
        try context.refresh(changed, description.root, target.store)
        changed.removeAll()
        waiting.removeAll(keepingCapacity: true)
        unique.removeAll(keepingCapacity: true)
    }

    private var changed: Set<Int64> = []

    private mutating func take(_ rows: [UpsertedRow], _ tracker: ChangeTracker) {
        let place = CommitHub.Place(store: target.store, root: description.root)
        let root = context.model.schema.entities[description.root].name, store = context.stack.storeID(target.store)
        tracker.written.rows.stores.insert(target.store)
        let counts = context.model.rules[target.entity]?.counts ?? []
        for row in rows {
            if row.isInserted {
                // A new object has no members; where some are required they must have come by the commit.
                for rule in counts { tracker.recount(target.store, description.root, row.key, rule.relationship) }
            }
            results.append((ObjectKey(store: store, root: root, key: row.key), row.isInserted))
            if row.isInserted {
                tracker.written.rows.counts.inserted += 1
            } else {
                tracker.written.rows.counts.updated += 1
                tracker.written.rows.keys[place, default: []].insert(row.key)
                changed.insert(row.key)
            }
        }
    }

    /// Checks the rules of the model, all failures together: what is not assigned has its default, which an object that is there need not
    /// have, but a new one would.
    private func validate() throws(StorageError) {
        guard let rules = context.model.rules[target.entity] else { return }
        var failures: [ValidationFailure] = []
        for object in waiting { failures += rules.failures(of: object, scratch) }
        try context.throwFailure()
        if let error = ValidationFailure.error(failures) { throw error }
    }
}
