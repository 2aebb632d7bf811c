internal import PolystoreStorage

/// Files whose records update the objects that some of their attributes identify (`on`).
extension FileLoader {
    /// The number of records that are written at once.
    private static let recordsAtOnce = 1024

    /// Finds the objects of the records, and reserves keys for those that do not exist yet.
    func identify(_ target: LoadTarget) throws(StorageError) -> IdentifiedRecords {
        guard let on = target.on, let identity = lookups[Lookup(entity: target.entity, slots: on)] else { return IdentifiedRecords() }
        let others = lookups.values.filter {
            $0 !== identity && (schema[$0.entity].family.contains(target.entity) || schema[target.entity].family.contains($0.entity))
        }
        var records = try records(of: target), found = IdentifiedRecords(), reserved = ReservedKeys()
        while let record = try records.next() {
            if found.keys.count % 1024 == 0 { try limit?.check() }
            let values = try target.identity(record)
            var known: Int64?, noted: [[Value]?] = []
            let isAccepted = try accepting(record, target) { () throws(StorageError) in
                switch identity.find(values) {
                case .one(let key): known = key
                case .nothing: break
                case .several: throw target.refusal(severalOf: record)
                }
                noted = try others.map { lookup throws(StorageError) in try self.values(of: record, target, known, in: lookup) }
            }
            if !isAccepted { continue }
            let key: Int64
            if let known {
                key = known
            } else {
                key = try reserved.take(target.entity, writer)
                found.fresh.insert(key)
                identity.add(values, key)
            }
            found.keys.append(key)
            found.hashes.append(values.hashValue)
            for (lookup, values) in zip(others, noted) { if let values { lookup.add(values, key) } }
        }
        keys[target.description.root, default: []].append(reserved)
        return found
    }

    /// Whether values identify an object of a target.
    func isKnown(_ identity: [Value], _ target: LoadTarget, as key: Int64) -> Bool {
        target.on.flatMap { lookups[Lookup(entity: target.entity, slots: $0)]?.find(identity) } == .one(key)
    }

    /// Returns the values by which references find the object of a record; nil if they do not find it.
    ///
    /// - Parameter key: The key of the object that the record updates; nil for a new one.
    func values(
        of record: LoadRecord, _ target: LoadTarget, _ key: Int64?, in lookup: LoadedKeys
    ) throws(StorageError) -> [Value]? {
        guard var new = key.flatMap(lookup.values(of:)) else {
            // A new object. Those of a sub-entity are only objects that the index has.
            return schema[lookup.entity].family.contains(target.entity) ? try values(of: record, target, lookup.slots) : nil
        }
        for (index, slot) in lookup.slots.enumerated() {
            let reference = target.references.first { $0.slot == slot }
            let isAssigned = try reference.map { reference throws(StorageError) in try target.assigns(record, reference) }
            if isAssigned ?? target.assigns(record, slot: slot) { new[index] = try values(of: record, target, [slot])[0] }
        }
        return new
    }

    /// Creates and updates the objects of a file.
    func update(_ target: LoadTarget, _ identified: IdentifiedRecords) throws(StorageError) {
        if identified.keys.count > Self.recordsAtOnce { try setUniqueValuesFree(target, identified) }
        var records = try records(of: target), fresh = identified.fresh
        var dangling = [Dangling](repeating: Dangling(), count: target.searches.count), updates = LoadUpdates(target)
        let batch = RowBatch(capacity: Self.recordsAtOnce)
        var report = LoadReport.Loaded(entity: target.file.entity), count = 0
        var created: Set<Int64> = []
        func flushAll() throws(StorageError) {
            if isVoid {
                updates.removeAll()
                return batch.clear()
            }
            // Updates come first, because they may set values free that new objects have, except for those of rows that are new.
            let related = try flushMembers()
            try updates.flush(self, &report, related: related) { !created.contains($0) }
            try flush(batch, target.entity)
            try updates.flush(self, &report, related: related)
            try inverses.flush(writer, isRecorded: isRecorded)
            created.removeAll()
            progress(target.file.entity, count)
        }
        while let record = try records.next() {
            guard count < identified.keys.count, try target.identity(record).hashValue == identified.hashes[count] else {
                throw Self.changed(target)
            }
            let key = identified.keys[count]
            _ = try accepting(record, target) { () throws(StorageError) in
                try target.check(record)
                if fresh.remove(key) != nil {
                    try append(record, at: count, key, target, &dangling, batch)
                    created.insert(key)
                    report.count += 1
                } else {
                    updates.add(count, key, try assignments(record, at: count, key, target, &dangling))
                }
                try addMembers(record, at: count, key, target, &dangling)
            }
            count += 1
            if batch.isFull || batch.copiedBytes > 8 << 20 || updates.isFull { try flushAll() }
        }
        if count < identified.keys.count { throw Self.changed(target) }
        try flushAll()
        self.report.loaded.append(report)
        note(dangling, target)
    }

    /// Sets unique values to nil that change, so that the objects of different batches and files can exchange them.
    func setUniqueValuesFree(_ target: LoadTarget, _ identified: IdentifiedRecords) throws(StorageError) {
        let slots = uniqueSlots(target)
        if slots.allSatisfy(\.isEmpty) { return }
        var records = try records(of: target), count = 0, assigned: [Int64: [Int: Value]] = [:]
        while let record = try records.next() {
            guard count < identified.keys.count else { throw Self.changed(target) }
            let key = identified.keys[count], object = LoadClaim.Object(root: target.description.root, key: key)
            defer { count += 1 }
            if identified.fresh.contains(key) { continue }
            // Nothing is rejected here: a list of rejected records has those whose values are wrong already.
            for slot in Set(slots.joined())
            where target.assigns(record, slot: slot) && lastAssignments.counts(object, slot, target, count) {
                assigned[key, default: [:]][slot] = try target.value(record, slot: slot)
            }
            if assigned.count < Self.recordsAtOnce { continue }
            try limit?.check()
            try setFree(assigned, slots, target)
            assigned.removeAll(keepingCapacity: true)
        }
        try setFree(assigned, slots, target)
    }

    /// Returns the attributes of each unique constraint that do not identify the records.
    func uniqueSlots(_ target: LoadTarget) -> [[Int]] {
        let slots = target.description.slots, on = target.on ?? []
        // A column of another program's table may refuse nil.
        let isForeign = store.ability((any ForeignStorage).self)?.foreignAccess != nil
        return target.description.uniqueConstraints.map { constraint in
            constraint.slots.filter { slot in
                !on.contains(slot) && slots[slot].attribute.map { $0.isOptional || !isForeign } ?? false
            }
        }
    }

    /// Sets a stored value of each constraint to nil that differs from the assigned one.
    private func setFree(_ assigned: [Int64: [Int: Value]], _ constraints: [[Int]], _ target: LoadTarget) throws(StorageError) {
        let keys = assigned.keys.sorted(), stored = RowBatch(capacity: keys.count)
        try writer.rows(target.entity, keys: keys, into: stored)
        var groups: [EntityIndex: [SlotMask: [(key: Int64, version: Int64)]]] = [:]
        for index in 0..<stored.count {
            let row = stored.row(index), values = assigned[row.key] ?? [:]
            var changed = SlotMask()
            for slots in constraints {
                let slot = slots.first { slot in
                    guard let value = values[slot], !row[slot].isNull else { return false }
                    return Value(row[slot], as: target.description.slots[slot].type) != value
                }
                if let slot { changed.insert(slot) }
            }
            if !changed.isEmpty { groups[row.entity, default: [:]][changed, default: []].append((row.key, row.version)) }
        }
        let changes = groups.sorted { $0.key < $1.key }.map { entity, groups in
            let slots = schema[entity].slots.count
            return EntityChanges(
                entity: entity,
                updates: groups.map { mask, rows in
                    let source = RowSource(count: rows.count) { range, batch in
                        for row in rows[range] {
                            batch.appendRow(key: row.key, version: row.version, entity: entity, slots: slots).initialize(
                                repeating: .null, count: slots)
                        }
                    }
                    return RowUpdate(mask: mask, checksVersion: true, rows: source)
                })
        }
        if !changes.isEmpty { try writer.apply(ChangeSet(entities: changes)) }
    }

    /// Returns the values that a record assigns to its object. A reference that is not resolved is left as it is.
    ///
    /// - Parameter index: The position of the record in its file.
    private func assignments(
        _ record: LoadRecord, at index: Int, _ key: Int64, _ target: LoadTarget, _ dangling: inout [Dangling]
    ) throws(StorageError) -> [LoadUpdates.Assignment] {
        var found: [LoadUpdates.Assignment] = []
        let object = LoadClaim.Object(root: target.description.root, key: key)
        for slot in target.description.slots.indices where target.on?.contains(slot) == false && target.assigns(record, slot: slot) {
            found.append(LoadUpdates.Assignment(slot: slot, value: try target.value(record, slot: slot), reference: nil, record: record))
        }
        for (position, reference) in target.references.enumerated() {
            if try !target.assigns(record, reference) { continue }
            let isNil = try target.values(record, reference.search) == nil
            let destination = try destination(record, target, reference.search, &dangling[position])
            if isNil || destination != nil {
                found.append(
                    LoadUpdates.Assignment(
                        slot: reference.slot, value: destination.map(Value.int) ?? .null, reference: reference, record: record))
            }
        }
        return found.filter { lastAssignments.counts(object, $0.slot, target, index) }
    }
}
