internal import PolystoreStorage

/// The pending updates of objects that exist. They are compared with the stored rows, and only what differs is written.
struct LoadUpdates {
    /// A value of a record for a slot of its object.
    struct Assignment {
        let slot: Int
        let value: Value
        /// The relationship whose reference is assigned; nil for an attribute.
        let reference: LoadReference?
        let record: LoadRecord
    }

    /// The records of one object, of which a later one takes precedence.
    private struct Pending {
        let key: Int64
        /// The positions of the records in the file.
        var positions: [Int]
        var assignments: [Assignment]
    }

    /// Rows of one entity in which the same slots change.
    private struct Group: Hashable {
        let entity: EntityIndex
        let mask: SlotMask
    }

    /// The number of objects whose rows are read at once, with all their columns.
    private static let block = 64
    private static let mostBytes = 8 << 20

    private let target: LoadTarget
    private var pending: [Pending] = []
    private var indexes: [Int64: Int] = [:]
    private var bytes = 0

    init(_ target: LoadTarget) { self.target = target }

    var isFull: Bool { pending.count >= 1024 || bytes > Self.mostBytes }

    /// Adds the update of an object by the record at a position.
    mutating func add(_ position: Int, _ key: Int64, _ assignments: [Assignment]) {
        for assignment in assignments { bytes += assignment.value.size }
        guard let index = indexes[key] else {
            indexes[key] = pending.count
            return pending.append(Pending(key: key, positions: [position], assignments: assignments))
        }
        let slots = assignments.map(\.slot)
        pending[index].positions.append(position)
        pending[index].assignments.removeAll { slots.contains($0.slot) }
        pending[index].assignments += assignments
    }

    /// Forgets all updates.
    mutating func removeAll() {
        pending.removeAll()
        indexes.removeAll()
        bytes = 0
    }

    /// Writes the updates of the objects that satisfy a condition.
    ///
    /// - Parameter related: The positions of the records that have added members.
    mutating func flush(
        _ loader: FileLoader, _ report: inout LoadReport.Loaded, related: Set<Int> = [], where isWanted: (Int64) -> Bool = { _ in true }
    ) throws(StorageError) {
        let wanted = pending.filter { isWanted($0.key) }.sorted { $0.key < $1.key }
        if wanted.isEmpty { return }
        let schema = loader.schema
        var groups: [Group: [(update: Pending, version: Int64)]] = [:]
        for start in stride(from: 0, to: wanted.count, by: Self.block) {
            let updates = wanted[start..<min(start + Self.block, wanted.count)], stored = RowBatch(capacity: updates.count)
            try loader.writer.rows(target.entity, keys: updates.map(\.key), into: stored)
            let positions = Dictionary(uniqueKeysWithValues: (0..<stored.count).map { (stored.key($0), $0) })
            for update in updates {
                guard let position = positions[update.key] else { continue }
                let row = stored.row(position), isSame = update.positions.filter { !related.contains($0) }.count
                guard let changed = try changes(update, row, loader) else {
                    report.unchanged += isSame
                    report.updated += update.positions.count - isSame
                    continue
                }
                report.updated += update.positions.count
                groups[Group(entity: row.entity, mask: changed.mask), default: []].append((changed.update, row.version))
            }
        }
        let changes = Dictionary(grouping: groups, by: \.key.entity).sorted { $0.key < $1.key }.map { entity, groups in
            EntityChanges(entity: entity, updates: groups.map { Self.update($0.key, $0.value, slots: schema[entity].slots.count) })
        }
        if !changes.isEmpty { try loader.writer.apply(ChangeSet(entities: changes)) }
        pending.removeAll { isWanted($0.key) }
        indexes = Dictionary(uniqueKeysWithValues: pending.enumerated().map { ($1.key, $0) })
        bytes = pending.reduce(0) { $0 + $1.assignments.reduce(0) { $0 + $1.value.size } }
    }

    /// Returns the assignments of an update that change its row, and records both ends of its references; nil if nothing changes.
    private func changes(
        _ update: Pending, _ row: borrowing RowView, _ loader: FileLoader
    ) throws(StorageError) -> (update: Pending, mask: SlotMask)? {
        var changed = update, mask = SlotMask()
        changed.assignments = []
        for assignment in update.assignments {
            let cell = row[assignment.slot]
            if Value(cell, as: target.description.slots[assignment.slot].type) == assignment.value {
                // Another object must not refer to the same one.
                if case .slot? = assignment.reference?.inverse { try claim(assignment, update, loader) }
                continue
            }
            mask.insert(assignment.slot)
            changed.assignments.append(assignment)
            if assignment.reference != nil { try move(assignment, update, from: cell.isNull ? nil : cell.int, loader) }
        }
        return changed.assignments.isEmpty ? nil : (changed, mask)
    }

    /// Records both ends of a reference that changes.
    private func move(_ assignment: Assignment, _ update: Pending, from old: Int64?, _ loader: FileLoader) throws(StorageError) {
        guard let reference = assignment.reference else { return }
        if let old {
            if let inverse = reference.inverseName { loader.counts.add(inverse, of: reference.destination, old) }
            loader.inverses.remove(reference, from: update.key, to: old, target.place(of: assignment.record))
        }
        try claim(assignment, update, loader)
    }

    /// Records the other end of a reference.
    private func claim(_ assignment: Assignment, _ update: Pending, _ loader: FileLoader) throws(StorageError) {
        guard let reference = assignment.reference, case .int(let key) = assignment.value else { return }
        try loader.refusing(assignment.record, target) { () throws(StorageError) in
            try loader.connect(reference, update.key, key, assignment.record, target)
        }
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

extension Value {
    /// The approximate size in bytes.
    fileprivate var size: Int {
        switch self {
        case .string(let text): text.utf8.count
        case .data(let data): data.count
        default: 16
        }
    }
}
