internal import PolystoreStorage

/// The pending updates of objects that exist. They are compared with the stored rows, and only what differs is written.
struct LoadUpdates {
    /// A value of a record for a slot of its object.
    struct Assignment {
        let slot: Int
        let value: Value
        /// The relationship whose reference is assigned; nil for an attribute.
        let reference: LoadReference?
    }

    private struct Pending {
        let record: LoadRecord
        let key: Int64
        var assignments: [Assignment]
    }

    /// Rows of one entity in which the same slots change.
    private struct Group: Hashable {
        let entity: EntityIndex
        let mask: SlotMask
    }

    private let target: LoadTarget
    private var pending: [Pending] = []
    private var keys: Set<Int64> = []

    init(_ target: LoadTarget) { self.target = target }

    var isFull: Bool { pending.count >= 1024 }

    /// Whether an object has an update that is not written yet.
    func contains(_ key: Int64) -> Bool { keys.contains(key) }

    /// Adds the update of an object that has none.
    mutating func add(_ record: LoadRecord, _ key: Int64, _ assignments: [Assignment]) {
        pending.append(Pending(record: record, key: key, assignments: assignments))
        keys.insert(key)
    }

    /// Writes the updates.
    mutating func flush(_ loader: FileLoader, _ report: inout LoadReport.Loaded) throws(StorageError) {
        if pending.isEmpty { return }
        let schema = loader.schema, stored = RowBatch(capacity: pending.count)
        try loader.writer.rows(target.entity, keys: keys.sorted(), into: stored)
        let positions = Dictionary(uniqueKeysWithValues: (0..<stored.count).map { (stored.key($0), $0) })
        let related = try loader.flushMembers()
        var groups: [Group: [(update: Pending, version: Int64)]] = [:]
        for var update in pending {
            guard let position = positions[update.key] else { continue }
            let row = stored.row(position), slots = schema[row.entity].slots
            update.assignments.removeAll { Value(row[$0.slot], as: slots[$0.slot].type) == $0.value }
            if update.assignments.isEmpty {
                if related.contains(update.key) { report.updated += 1 } else { report.unchanged += 1 }
                continue
            }
            report.updated += 1
            var mask = SlotMask()
            for assignment in update.assignments {
                mask.insert(assignment.slot)
                let cell = row[assignment.slot]
                if assignment.reference != nil { try move(assignment, update, from: cell.isNull ? nil : cell.int, loader) }
            }
            groups[Group(entity: row.entity, mask: mask), default: []].append((update, row.version))
        }
        let changes = Dictionary(grouping: groups, by: \.key.entity).sorted { $0.key < $1.key }.map { entity, groups in
            EntityChanges(entity: entity, updates: groups.map { Self.update($0.key, $0.value, slots: schema[entity].slots.count) })
        }
        if !changes.isEmpty { try loader.writer.apply(ChangeSet(entities: changes)) }
        pending.removeAll()
        keys.removeAll()
    }

    /// Records both ends of a reference that changes.
    private func move(_ assignment: Assignment, _ update: Pending, from old: Int64?, _ loader: FileLoader) throws(StorageError) {
        guard let reference = assignment.reference else { return }
        if let old {
            if let inverse = reference.inverseName { loader.counts.add(inverse, of: reference.destination, old) }
            loader.inverses.remove(reference, from: update.key, to: old)
        }
        if case .int(let new) = assignment.value { try loader.connect(reference, update.key, new, update.record, target) }
    }

    private static func update(_ group: Group, _ rows: [(update: Pending, version: Int64)], slots: Int) -> RowUpdate {
        let source = RowSource(count: rows.count) { range, batch in
            for (update, version) in rows[range] {
                let cells = batch.appendRow(key: update.key, version: version, entity: group.entity, slots: slots)
                cells.initialize(repeating: .null, count: slots)
                for assignment in update.assignments { cells[assignment.slot] = batch.cell(for: assignment.value) }
            }
        }
        return RowUpdate(mask: group.mask, checksVersion: true, rows: source)
    }
}
