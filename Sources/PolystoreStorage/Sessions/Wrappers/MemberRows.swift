/// The destination rows of to-many relationships, as a session sees them.
package struct MemberRows {
    private let reader: any StorageReader
    private let schema: Schema
    private let count: ResidualCount?

    /// Creates an accessor for the rows of a session.
    package init(_ session: ReadSession) { self.init(session.reader, session.schema) }

    /// Creates an accessor for the rows of a store's own session.
    package init(_ reader: any StorageReader, _ schema: Schema) { self.init(reader, schema, counting: nil) }

    /// - Parameter count: Counts the rows as related ones.
    init(_ reader: any StorageReader, _ schema: Schema, counting count: ResidualCount?) {
        self.reader = reader
        self.schema = schema
        self.count = count
    }

    /// Calls a closure with each row that a to-many relationship of an object references, until it returns false.
    ///
    /// - Parameter inOrder: Whether the rows of an ordered relationship come in its order.
    package func forEach(
        _ entity: EntityIndex, _ relationship: Int, of key: Int64, inOrder: Bool = false, _ body: (borrowing RowView) -> Bool
    ) throws(StorageError) {
        let description = schema[entity].relationships[relationship]
        switch description.place {
        case .slot: return
        case .orderedInverseSlot(_, let link) where inOrder:
            try forEach(description.destination, link, .owner, of: key, body)
        case .inverseSlot(let slot), .orderedInverseSlot(let slot, _):
            let path = CheckedPath(
                steps: [], entity: description.destination, leaf: .slot(slot), type: .int64, text: description.relationship.name)
            let plan = FetchPlan(schema, description.destination, where: .compare(path, .equal, .int(key)))
            let batch = RowBatch()
            let cursor = try ResidualReader(reader, schema: schema).cursor(for: plan)
            while try cursor.next(into: batch) {
                count?.related += batch.count
                for index in 0..<batch.count where !body(batch.row(index)) { return }
            }
        case .link(let link, let side): try forEach(description.destination, link, side, of: key, body)
        }
    }

    /// Calls a closure with the rows at the other ends of an object's pairs, in the order of the pairs.
    private func forEach(
        _ destination: EntityIndex, _ link: Int, _ side: LinkSide, of key: Int64, _ body: (borrowing RowView) -> Bool
    ) throws(StorageError) {
        var keys: [Int64] = []
        try reader.links(link, side: side, keys: [key]) { pairs throws(StorageError) in
            for pair in pairs { keys.append(side == .owner ? pair.member : pair.owner) }
        }
        if keys.isEmpty { return }
        let batch = RowBatch(capacity: keys.count)
        try reader.rows(destination, keys: keys, into: batch)
        count?.related += batch.count
        for index in 0..<batch.count where !body(batch.row(index)) { return }
    }
}
