internal import PolystoreStorage

extension ObjectContext {
    /// Lets objects prepare themselves, then validates everything that the transaction changed against the rules of the model, and reports
    /// all failures together.
    func validate() throws(StorageError) {
        guard let tracker else { return }
        if model.hasSaveAware { try callWillSave(tracker) }
        try validateRules(tracker)
    }

    /// Validates everything that the transaction changed as it is now, without letting objects prepare themselves. The commit validates it
    /// again.
    func validateUnprepared() throws(StorageError) {
        guard let tracker else { return }
        try throwingFailures(assigns: true) { () throws(StorageError) in try validateRules(tracker) }
    }

    private func validateRules(_ tracker: ChangeTracker) throws(StorageError) {
        if !model.hasRules { return }
        var failures: [ValidationFailure] = []
        let scratch = RowBatch(capacity: 1)
        // Objects of one entity are usually consecutive: its rules are looked up once for all of them.
        var entity: Int16 = -1, current: EntityRules?
        var satisfied: UInt64?
        func check(_ object: ManagedObject) {
            if object._entity != entity {
                entity = object._entity
                current = model.rules[Int(entity)]
                satisfied = current?.sufficientBits
            }
            guard let rules = current else { return }
            rules.check(object, unassigned: tracker.unassigned(object, rules), scratch, &failures)
            tracker.recount(new: object, rules)
        }
        // Only objects that were written before can be in two of the lists.
        var checked: Set<ObjectIdentifier> = []
        for object in [tracker.written.unchecked, tracker.written.upserted].joined()
        where !object.isDeletedObject && checked.insert(ObjectIdentifier(object)).inserted { check(object) }
        for objects in [tracker.inserted, tracker.changed] {
            for index in objects.indices {
                // Most objects are passed by reading three fields, without counting a reference.
                if objects[index]._entity == entity, let satisfied, objects[index].isNew, objects[index]._dirty & satisfied == satisfied {
                    continue
                }
                let object = objects[index]
                if object.isDeletedObject || checked.contains(ObjectIdentifier(object)) { continue }
                check(object)
            }
        }
        failures += try countFailures(tracker)
        try throwFailure()
        if let error = ValidationFailure.error(failures) { throw error }
    }

    /// Whether a property of an object does not have to be assigned, or was assigned.
    func hasBeenAssigned(_ object: ManagedObject, _ name: String) -> Bool {
        guard let tracker, let rules = model.rules[Int(object._entity)] else { return true }
        let missing = tracker.unassigned(object, rules), slots = object.description.slots
        return !missing.slots.contains { slots.indices.contains($0) && slots[$0].name == name }
    }

    /// Returns the failures of changed to-many relationships with too few or too many destinations.
    private func countFailures(_ tracker: ChangeTracker) throws(StorageError) -> [ValidationFailure] {
        var failures: [ValidationFailure] = []
        for place in tracker.recounted.values.keys.sorted(by: { ($0.store, $0.entity, $0.key) < ($1.store, $1.entity, $1.key) }) {
            guard let object = try object(place.entity, place.key, place.store),
                let rule = model.rules[Int(object._entity)]?.counts.first(where: { $0.relationship == place.relationship })
            else { continue }
            let count = try state(object, place.relationship).count
            if let failure = rule.failure(count, of: object.description.name, object._key), try exists(object) { failures.append(failure) }
        }
        return failures
    }

    /// Whether an object is new or in its store. Another transaction may have deleted an object of a detached one, which then has no members
    /// there: the commit determines whether that is a conflict.
    private func exists(_ object: ManagedObject) throws(StorageError) -> Bool {
        if sessions != nil || object.isNew { return true }
        return try withReader(Int(object._store)) { reader throws(StorageError) in
            try reader.missing([object._key], of: object.description.root).isEmpty
        }
    }

    /// Validates the numbers of destinations of changed to-many relationships as they are in the stores with the changes of this transaction,
    /// and with those of other transactions since they were read.
    ///
    /// - Parameters:
    ///   - stores: The stores with changes.
    ///   - session: Returns the session that writes the changes of a store.
    func validateCounts(
        _ tracker: ChangeTracker, in stores: Set<Int>, _ session: (Int) throws(StorageError) -> ReadSession
    ) throws(StorageError) {
        struct Place: Hashable {
            let store: Int
            let root: EntityIndex
            let relationship: Int
        }
        // Changes that cancel each other leave recounts without changes.
        let recounted = tracker.recounted.values.keys.filter { stores.contains($0.store) }
        if recounted.isEmpty { return }
        var failures: [ValidationFailure] = []
        let places = Dictionary(grouping: recounted) { Place(store: $0.store, root: $0.entity, relationship: $0.relationship) }
        for (place, items) in places.sorted(by: { $0.value[0].key < $1.value[0].key }) {
            let reader = try session(place.store), rows = RowBatch(capacity: items.count)
            try reader.rows(place.root, keys: items.map(\.key).sorted(), SlotMask(), into: rows)
            var counts: [Int: [Int64: Int]] = [:]
            for index in 0..<rows.count {
                let entity = rows.row(index).entity, key = rows.key(index)
                guard let rule = model.rules[entity]?.counts.first(where: { $0.relationship == place.relationship }) else { continue }
                if counts[entity] == nil {
                    let keys = (0..<rows.count).filter { rows.row($0).entity == entity }.map(rows.key)
                    counts[entity] = try numbers(of: model.schema[entity].relationships[place.relationship], keys, reader)
                }
                let count = counts[entity]?[key] ?? 0
                if let failure = rule.failure(count, of: model.schema[entity].name, key) { failures.append(failure) }
            }
        }
        if let error = ValidationFailure.error(failures) { throw error }
    }

    /// Returns the numbers of stored destinations of a to-many relationship, by the keys of the objects.
    private func numbers(
        of relationship: RelationshipDescription, _ keys: [Int64], _ reader: ReadSession
    ) throws(StorageError) -> [Int64: Int] {
        var numbers: [Int64: Int] = [:]
        switch relationship.place {
        case .slot: break
        case .link(let link, let side): try count(link, side)
        case .orderedInverseSlot(_, let link): try count(link, .owner)
        case .inverseSlot(let slot):
            let destination = model.schema[relationship.destination]
            let path = CheckedPath(
                steps: [], entity: relationship.destination, leaf: .slot(slot), type: .int64, text: destination.slots[slot].name)
            for start in stride(from: 0, to: keys.count, by: Self.mostKeys) {
                let part = keys[start..<min(start + Self.mostKeys, keys.count)]
                var plan = FetchPlan(model.schema, relationship.destination, where: .isIn(.path(path), part.map(Value.int)))
                plan.fields = .some(SlotMask())
                let cursor = try reader.cursor(for: plan), batch = RowBatch(capacity: 1024)
                while try cursor.next(into: batch) {
                    for index in 0..<batch.count { numbers[batch.row(index)[slot].int, default: 0] += 1 }
                }
            }
        }
        func count(_ link: Int, _ side: LinkSide) throws(StorageError) {
            try reader.links(link, side: side, keys: keys) { pairs throws(StorageError) in
                for pair in pairs { numbers[side == .owner ? pair.owner : pair.member, default: 0] += 1 }
            }
        }
        return numbers
    }

    /// The number of keys in a condition.
    private static var mostKeys: Int { 5000 }

    /// Calls `willSave` in rounds, because each call may change further objects. An object is called only once.
    private func callWillSave(_ tracker: ChangeTracker) throws(StorageError) {
        var called: Set<ObjectIdentifier> = []
        while true {
            let waiting = [tracker.written.unchecked, tracker.inserted, tracker.changed].joined().filter { object in
                model.isSaveAware[Int(object._entity)] && !object.isDeletedObject && called.insert(ObjectIdentifier(object)).inserted
            }
            if waiting.isEmpty { return }
            for object in waiting where !object.isDeletedObject { (object as? any SaveAwareObject)?.willSave() }
            try throwFailure()
        }
    }
}

extension ChangeTracker {
    /// A to-many relationship whose members must be counted before the commit.
    struct Recount: Hashable {
        let store: Int
        let entity: EntityIndex
        let key: Int64
        let relationship: Int
    }

    /// Records that the members of an object must be counted because it is new: it may lack required ones.
    func recount(new object: ManagedObject, _ rules: EntityRules) {
        if rules.counts.isEmpty || !object.isNew { return }
        for rule in rules.counts { recount(object, rule.relationship) }
    }

    /// Records that the members of a to-many relationship changed.
    func recount(_ object: ManagedObject, _ relationship: Int) {
        recount(Int(object._store), object.description.root, object._key, relationship)
    }

    /// Records that the members of a to-many relationship of the object with a key changed.
    func recount(_ store: Int, _ root: EntityIndex, _ key: Int64, _ relationship: Int) {
        let place = Recount(store: store, entity: root, key: key, relationship: relationship)
        if recounted[place] == nil { recounted[place] = () }
    }
}

extension ValidationFailure {
    /// Returns all failures of a commit as one error; nil if there are none.
    static func error(_ failures: [ValidationFailure]) -> StorageError? {
        guard let first = failures.first else { return nil }
        let more = failures.count > 1 ? " (and \(failures.count - 1) more)" : ""
        return StorageError(
            .validationFailed, "\(first)\(more)",
            details: .init(entity: first.entity, property: first.property, keys: failures.map(\.key), failures: failures))
    }
}
