internal import PolystoreStorage

/// The comparison of the two sides of each one-to-one relationship, of which only one has a column.
final class OneToOneSides {
    private struct Side {
        let slot: Int
        /// The position of the relationship.
        let relationship: Int
        let hasColumn: Bool
    }

    private var sides: [EntityIndex: [Side]] = [:]
    private var names: [String] = []
    /// The digests of the pairs, from the side with a column and from the other one.
    private var digests: [(column: Digest, other: Digest)] = []

    init(_ tables: PlainTables) {
        let schema = tables.schema
        for table in tables.tables {
            let kept = Set(table.columns.map(\.slot))
            for (index, slot) in schema[table.entity].slots.enumerated() {
                guard case .toOne(let relationship, let destination) = slot.content,
                    let inverse = relationship.inverse.flatMap({ schema[destination].relationship($0) }),
                    inverse.relationship.cardinality == .toOne
                else { continue }
                let own = "\(schema[slot.declaredIn].name).\(slot.name)"
                let other = "\(schema[inverse.declaredIn].name).\(inverse.relationship.name)"
                if own == other { continue }
                let hasColumn = kept.contains(index)
                sides[table.entity, default: []].append(
                    Side(slot: index, relationship: position(hasColumn ? own : other), hasColumn: hasColumn))
            }
        }
    }

    private func position(_ name: String) -> Int {
        if let known = names.firstIndex(of: name) { return known }
        names.append(name)
        digests.append((Digest(), Digest()))
        return names.count - 1
    }

    /// Adds the references of a row.
    func add(_ row: borrowing RowView) {
        guard let sides = sides[row.entity] else { return }
        for side in sides where !row[side.slot].isNull {
            let other = row[side.slot].int
            if side.hasColumn {
                digests[side.relationship].column.add(LinkPair(owner: row.key, member: other), position: 0)
            } else {
                digests[side.relationship].other.add(LinkPair(owner: other, member: row.key), position: 0)
            }
        }
    }

    /// Checks that both sides have the same pairs.
    ///
    /// - Throws: `corrupted`, because the copy would lack the references of one side.
    func check() throws(StorageError) {
        for (name, digests) in zip(names, digests) where digests.column != digests.other {
            throw StorageError(
                .corrupted,
                "the two sides of the one-to-one relationship \(name) disagree in the source, so it is damaged (polystore check shows where); "
                    + "nothing was committed")
        }
    }
}
