internal import PolystoreStorage

/// Looks up the other ends of one-to-one relationships, many at a time.
struct CheckedPartners {
    private struct Partner {
        let entity: String
        let property: String
        let key: Int64
        let other: Int64
        let slot: Int
    }

    private let check: StoreCheck
    private var waiting: [EntityIndex: [Partner]] = [:]

    init(_ check: StoreCheck) { self.check = check }

    /// Checks that the slot of a destination refers back to an object, immediately or when enough destinations are to be looked up.
    mutating func add(
        _ entity: String, _ property: String, _ key: Int64, _ other: Int64, _ destination: EntityIndex, _ slot: Int,
        _ body: (CheckFinding) throws(StorageError) -> Void
    ) throws(StorageError) {
        waiting[destination, default: []].append(Partner(entity: entity, property: property, key: key, other: other, slot: slot))
        if waiting[destination]?.count == StoreCheck.blockSize { try flush(destination, body) }
    }

    /// Checks all objects that are waiting.
    mutating func flush(_ body: (CheckFinding) throws(StorageError) -> Void) throws(StorageError) {
        for destination in waiting.keys.sorted() { try flush(destination, body) }
    }

    private mutating func flush(
        _ destination: EntityIndex, _ body: (CheckFinding) throws(StorageError) -> Void
    ) throws(StorageError) {
        try check.limit?.check()
        let partners = waiting.removeValue(forKey: destination) ?? [], batch = RowBatch(capacity: StoreCheck.blockSize)
        try check.session.rows(destination, keys: Array(Set(partners.map(\.other))).sorted(), into: batch)
        var positions: [Int64: Int] = [:]
        for index in 0..<batch.count { positions[batch.key(index)] = index }
        for partner in partners {
            guard let position = positions[partner.other] else { continue }
            let row = batch.row(position), cell = row[partner.slot]
            if !cell.isNull, cell.int == partner.key { continue }
            try body(
                CheckFinding(partner.entity, partner.key, partner.property, "object \(partner.other) does not refer back to this object"))
        }
    }
}
