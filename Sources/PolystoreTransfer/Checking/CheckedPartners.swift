internal import PolystoreStorage

/// Looks up the other ends of one-to-one relationships, many at a time.
struct CheckedPartners {
    /// A reference of an object to another one, and the change that removes it.
    struct Reference {
        let entity: String
        let property: String
        let key: Int64
        let other: Int64
        let mending: RepairStep
        let isRemoved: Bool
    }

    /// The end of a relationship at a destination.
    private struct End: Hashable {
        let destination: EntityIndex
        let slot: Int
    }

    private let check: StoreCheck
    private var waiting: [End: [Reference]] = [:]
    /// The objects whose missing references a repair sets, by the end of the relationship.
    private var claimed: [End: Set<Int64>] = [:]

    init(_ check: StoreCheck) { self.check = check }

    /// Checks that the slot of a destination refers back to an object, immediately or when enough destinations are to be looked up.
    mutating func add(
        _ reference: Reference, _ destination: EntityIndex, _ slot: Int, _ body: (CheckFinding) throws(StorageError) -> Void
    ) throws(StorageError) {
        let end = End(destination: destination, slot: slot)
        waiting[end, default: []].append(reference)
        if waiting[end]?.count == StoreCheck.blockSize { try flush(end, body) }
    }

    /// Checks all objects that are waiting.
    mutating func flush(_ body: (CheckFinding) throws(StorageError) -> Void) throws(StorageError) {
        for end in waiting.keys.sorted(by: { ($0.destination, $0.slot) < ($1.destination, $1.slot) }) { try flush(end, body) }
    }

    private mutating func flush(_ end: End, _ body: (CheckFinding) throws(StorageError) -> Void) throws(StorageError) {
        try check.limit?.check()
        let references = waiting.removeValue(forKey: end) ?? [], batch = RowBatch(capacity: StoreCheck.blockSize)
        let positions = try rows(end, references, batch)
        for reference in references {
            guard let position = positions[reference.other] else { continue }
            let row = batch.row(position), cell = row[end.slot]
            if !cell.isNull, cell.int == reference.key { continue }
            let partner = RepairStep.Row(entity: row.entity, key: row.key, version: row.version)
            let step = mending(reference, end, partner, isFree: isFree(cell, row.entity, end.slot))
            let sentence = "object \(reference.other) does not refer back to this object"
            try body(CheckFinding(reference.entity, reference.key, reference.property, sentence, step))
        }
    }

    /// Reads the destinations that can be decoded. Returns the position of each in the batch.
    private func rows(_ end: End, _ references: [Reference], _ batch: RowBatch) throws(StorageError) -> [Int64: Int] {
        let keys = Array(Set(references.map(\.other))).sorted()
        do throws(StorageError) { try check.session.rows(end.destination, keys: keys, into: batch) } catch {
            guard error.code == .corrupted, check.session.storedForms != nil else { throw error }
            batch.clear()
            for key in keys {
                let count = batch.count
                do throws(StorageError) { try check.session.rows(end.destination, keys: [key], into: batch) } catch {
                    if error.code != .corrupted { throw error }
                    while batch.count > count { batch.removeLastRow() }
                }
            }
        }
        var positions: [Int64: Int] = [:]
        for index in 0..<batch.count { positions[batch.key(index)] = index }
        return positions
    }

    /// Returns whether a cell refers to nothing.
    private func isFree(_ cell: Cell, _ entity: EntityIndex, _ slot: Int) -> Bool {
        guard !cell.isNull, let destination = check.schema[entity].slots[slot].destination else { return true }
        return !check.exists(cell.int, destination)
    }

    /// Returns the change that lets both ends agree: the missing reference is set for the first object that claims the destination. Other
    /// objects lose their references, or are only reported if they need them.
    private mutating func mending(_ reference: Reference, _ end: End, _ partner: RepairStep.Row, isFree: Bool) -> RepairStep? {
        if isFree, !reference.isRemoved, claimed[end, default: []].insert(partner.key).inserted {
            return .setReference(partner, slot: end.slot, to: reference.key)
        }
        // The partner of an object that requires it has another one. Which pair is right is not known, so the object is not deleted.
        return if case .delete = reference.mending { nil } else { reference.mending }
    }
}
