internal import PolystoreStorage

/// The values of the rows of a hierarchy under unique constraints, with which equal ones are found.
///
/// It keeps a digest of 128 bits for each row and constraint.
final class UniqueValues {
    private var keys: [Digest: Int64] = [:]
    private let scratch = RowBatch(capacity: 1)

    /// Adds the values of a row. Returns the key of an earlier row with the same values, in which case the row is not added.
    ///
    /// - Parameter converted: The values of slots that are not those of the row.
    func add(_ row: borrowing RowView, _ constraint: ResolvedConstraint, _ converted: [Int: Value]) -> Int64? {
        scratch.clear()
        let cells = scratch.appendRow(key: 0, version: 1, entity: row.entity, slots: constraint.slots.count)
        for (index, slot) in constraint.slots.enumerated() {
            cells[index] = converted[slot].map { scratch.cell(for: $0) } ?? row[slot]
            // A nil is equal to no value.
            if cells[index].isNull { return nil }
        }
        var digest = Digest()
        digest.add(
            scratch.row(0), entityName: Digest.number(of: "\(constraint.declaredIn) \(constraint.name)"), slots: constraint.slots.count)
        if let known = keys[digest] { return known }
        keys[digest] = row.key
        return nil
    }
}
