internal import PolystoreStorage

extension TransferScope {
    /// Leaves rejected rows out, and rejects those that need them as destinations or as members: a reference to a rejected row becomes nil if
    /// it may be.
    ///
    /// - Parameters:
    ///   - target: The target, if its objects remain. Whether its objects have enough members is found when all are there.
    ///   - accepted: The relationships of which objects may have fewer members than they must.
    /// - Throws: `limitExceeded` if too many rows are rejected.
    mutating func leaveOut(
        _ rejects: RejectedRows, _ source: ReadSession, _ target: ReadSession?, _ model: MappedModel?, accepted: Set<String>,
        _ limit: WorkLimit?
    ) throws(StorageError) {
        if rejects.count == 0 { return }
        try findPresent(target, of: schema.roots, model, limit)
        try remove(rejects, source, limit)
        var changed = Set(rejects.roots)
        while !changed.isEmpty {
            let before = self
            var grown: Set<EntityIndex> = []
            for root in schema.roots where refers(root, to: changed) {
                let known = rejects.count
                try before.forEachRow(root, source) { batch throws(StorageError) in
                    try limit?.check()
                    for index in 0..<batch.count where !rejects.contains(batch.key(index), root) {
                        try before.rejectIfNeeded(batch.row(index), root, rejects, model)
                    }
                }
                if rejects.count > known { grown.insert(root) }
            }
            if !grown.isEmpty { try remove(rejects, source, limit) }
            changed = grown
            if grown.isEmpty, target == nil {
                changed = try rejectTooFewMembers(rejects, source, model, accepted: accepted, limit)
                if !changed.isEmpty { try remove(rejects, source, limit) }
            }
        }
        try cutReferences(source, limit)
    }

    /// Removes the rejected rows from those that are copied.
    private mutating func remove(_ rejects: RejectedRows, _ source: ReadSession, _ limit: WorkLimit?) throws(StorageError) {
        for root in rejects.roots {
            var keys: KeyBitmap
            if let known = chosen.removeValue(forKey: root) {
                keys = known
            } else {
                keys = try Self.keys(FetchPlan(schema, root, fields: .keysOnly), source, limit)
            }
            for key in rejects.keys(root) { keys.remove(key) }
            chosen[root] = keys
        }
    }

    /// Rejects a row that must refer to a rejected one.
    private func rejectIfNeeded(
        _ row: borrowing RowView, _ root: EntityIndex, _ rejects: RejectedRows, _ model: MappedModel?
    ) throws(StorageError) {
        let slots = schema[row.entity].slots
        for slot in slots.indices {
            guard let destination = slots[slot].destination, !row[slot].isNull, Self.isRequired(slots[slot]) else { continue }
            let key = row[slot].int
            guard rejects.contains(key, schema[destination].root), !wasPresent(key, destination) else { continue }
            let names = model?.schema ?? schema, entity = model?.entities[row.entity] ?? row.entity
            let property = names[entity].slots[slot].name, other = names.entities[model?.entities[destination] ?? destination].name
            return try rejects.add(
                RejectedRow(
                    entity: names.entities[entity].name, key: row.key, property: property,
                    reason: "\(names.entities[entity].name).\(property) is required, and the object \(key) of \(other) is left out",
                    root: root))
        }
    }

    /// Finds the references to objects that will not exist.
    private mutating func cutReferences(_ source: ReadSession, _ limit: WorkLimit?) throws(StorageError) {
        removedReferences.removeAll()
        cuts.removeAll()
        let restricted = Set(chosen.keys), before = self
        for root in schema.roots where refers(root, to: restricted) {
            try before.forEachRow(root, source) { batch throws(StorageError) in
                try limit?.check()
                follow(batch, false)
            }
        }
    }
}
