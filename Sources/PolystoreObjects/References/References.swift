internal import PolystoreStorage

extension ObjectContext {
    /// Returns the destination of a reference; nil without a reference, and if the destination does not exist.
    func referenced(_ object: ManagedObject, _ slot: Int) throws(StorageError) -> ManagedObject? {
        guard let key = object.referenceKey(slot), let store = stack.position(of: key.store),
            let root = model.schema.index(of: key.root)
        else { return nil }
        return try self.object(root, key.key, store)
    }

    /// Returns the objects whose reference has one of the given destinations.
    func referrers(_ attribute: ReferenceAttribute, to objects: [ManagedObject]) throws(StorageError) -> [ManagedObject] {
        // Nothing in the stores can reference an object that was not written yet, so it can be deleted even if it cannot be written.
        let new = Set(objects.filter(\.isNew).map(objectKey))
        let pending =
            new.isEmpty ? [] : pendingObjects(of: attribute.entity).filter { $0.referenceKey(attribute.slot).map(new.contains) ?? false }
        return try pending + storedReferrers(attribute, to: objects.filter { !$0.isNew })
    }

    private func pendingObjects(of entity: EntityIndex) -> [ManagedObject] {
        let family = model.schema[entity].family
        return tracker?.pendingObjects.filter { !$0.isDeletedObject && family.contains(Int($0._entity)) } ?? []
    }

    private func storedReferrers(_ attribute: ReferenceAttribute, to objects: [ManagedObject]) throws(StorageError) -> [ManagedObject] {
        if objects.isEmpty { return [] }
        let name = model.schema[attribute.entity].slots[attribute.slot].name
        let path = CheckedPath(steps: [], entity: attribute.entity, leaf: .slot(attribute.slot), type: .string, text: name)
        return try withPending { () throws(StorageError) in try storedReferrers(attribute, path, objects) }
    }

    private func storedReferrers(
        _ attribute: ReferenceAttribute, _ path: CheckedPath, _ objects: [ManagedObject]
    ) throws(StorageError) -> [ManagedObject] {
        var result: [ManagedObject] = []
        for start in stride(from: 0, to: objects.count, by: 500) {
            let ids = objects[start..<min(start + 500, objects.count)].map { objectKey(of: $0).description }
            let values = ids.sorted { $0.compareUTF8(to: $1) < 0 }.map(Value.string)
            let plan = FetchPlan(model.schema, attribute.entity, where: .isIn(.path(path), values))
            // If no store of the stack holds the entity, no references are known.
            for (store, entry) in stack.entries where entry.entities.contains(attribute.entity) {
                try withReader(store) { reader throws(StorageError) in
                    result += try self.objects(for: plan, store: store, reader)
                }
            }
        }
        return result
    }
}

extension ObjectContext {
    /// A reference into another store of the stack that was assigned to an object.
    typealias AssignedReference = (object: ManagedObject, slot: Int, target: PendingReferences.Target)

    /// Returns the references into other stores of the stack that were assigned to some of the objects.
    func assignedReferences(of objects: some Sequence<ManagedObject>) -> [AssignedReference] {
        if model.references.isEmpty { return [] }
        let families = model.references.map { Set(model.schema[$0.entity].family) }
        var assigned: [AssignedReference] = []
        for object in objects where !object.isDeletedObject {
            for (attribute, family) in zip(model.references, families) where family.contains(Int(object._entity)) {
                guard object.isNew || tracker?.mask(object).contains(attribute.slot) == true,
                    let target = object.referenceKey(attribute.slot).flatMap({ PendingReferences.Target($0, self) })
                else { continue }
                assigned.append((object, attribute.slot, target))
            }
        }
        return assigned
    }

    /// Checks that the destinations of the references that were assigned to objects exist.
    ///
    /// - Throws: `validationFailed`, which names all references without a destination; any error of reading.
    func checkReferences(of objects: some Sequence<ManagedObject>) throws(StorageError) {
        let assigned = assignedReferences(of: objects)
        if assigned.isEmpty { return }
        let missing = try missing(Set(assigned.map(\.target)))
        let failures = assigned.filter { missing.contains($0.target) }.map { object, slot, target in
            ValidationFailure(
                entity: object.description.name, property: object.description.slots[slot].name, key: object._key, sentence(target))
        }
        if let error = ValidationFailure.error(failures) { throw error }
    }

    /// Checks that the destinations of references exist that are about to be assigned to many objects.
    ///
    /// - Throws: `validationFailed` for the first one that does not exist; any error of reading.
    func checkReferences(_ values: Set<Value>, in slot: Int, of description: EntityDescription) throws(StorageError) {
        if description.slots[slot].attribute?.crossReference == nil { return }
        let targets = values.compactMap { value in
            if case .string(let text) = value { ObjectKey(text).flatMap { PendingReferences.Target($0, self) } } else { nil }
        }
        let missing = try missing(Set(targets))
        guard let first = missing.min(by: { ($0.store, $0.root, $0.key) < ($1.store, $1.root, $1.key) }) else { return }
        let (entity, property) = (description.name, description.slots[slot].name)
        throw StorageError(
            .validationFailed, "\(entity).\(property) \(sentence(first))", details: .init(entity: entity, property: property))
    }

    private func sentence(_ target: PendingReferences.Target) -> String {
        "refers to \(model.schema[target.root].name) \(target.key), which does not exist"
    }

    /// Returns the destinations that do not exist. Each store is read once for 500 objects that are not in memory.
    private func missing(_ targets: Set<PendingReferences.Target>) throws(StorageError) -> Set<PendingReferences.Target> {
        var missing: Set<PendingReferences.Target> = [], unknown: [KeyBlock.Place: [Int64]] = [:]
        for target in targets {
            guard let known = identityMap(target.root, target.store).find(target.key) else {
                unknown[KeyBlock.Place(store: target.store, root: target.root), default: []].append(target.key)
                continue
            }
            if known.isDeletedObject { missing.insert(target) }
        }
        for (place, keys) in unknown.sorted(by: { ($0.key.store, $0.key.root) < ($1.key.store, $1.key.root) }) {
            try withReader(place.store) { reader throws(StorageError) in
                for found in try reader.missing(keys, of: place.root) {
                    missing.insert(PendingReferences.Target(store: place.store, root: place.root, key: found))
                }
            }
        }
        return missing
    }
}

extension ReadSession {
    /// Returns the keys without a row.
    func missing(_ keys: some Collection<Int64>, of root: EntityIndex) throws(StorageError) -> [Int64] {
        let sorted = keys.sorted(), batch = RowBatch(capacity: min(sorted.count, 500))
        var missing: [Int64] = []
        for start in stride(from: 0, to: sorted.count, by: 500) {
            let block = Array(sorted[start..<min(start + 500, sorted.count)])
            batch.clear()
            try rows(root, keys: block, into: batch)
            let found = Set((0..<batch.count).map(batch.key))
            missing += block.filter { !found.contains($0) }
        }
        return missing
    }
}

extension ManagedObject {
    /// Returns the identity that a reference contains.
    func referenceKey(_ slot: Int) -> ObjectKey? {
        guard case .string(let text)? = currentValues()[description.slots[slot].name] else { return nil }
        return ObjectKey(text)
    }

    /// Sets an attribute to nil.
    func clear(_ slot: Int) {
        _touch(slot)
        let batch = encodedRow()
        batch.mutableCells(0)[slot] = .null
        withExtendedLifetime(batch) { _reload(batch.row(0), .max) }
    }
}
