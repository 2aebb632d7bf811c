/// Removes references to discarded objects from a migrated store: to-one references become nil, pairs are removed.
package struct LeftBehind {
    private var schema: Schema { writer.schema }
    private let missing: [EntityIndex: Set<Int64>]
    private let writer: WriteSession

    /// Creates a removal of references to the objects in `missing`, which contains primary keys by root entity.
    package init(_ missing: [EntityIndex: Set<Int64>], _ writer: WriteSession) {
        self.missing = missing
        self.writer = writer
    }

    /// Removes the references.
    ///
    /// - Throws: `validationFailed` for a required relationship whose destination was discarded.
    package func remove() throws(StorageError) {
        if missing.isEmpty { return }
        for entity in schema.descriptions where !entity.isAbstract {
            for slot in entity.slots.indices { try clear(entity, slot) }
        }
        for link in schema.links.indices { try clear(link: link) }
    }

    private func clear(_ entity: EntityDescription, _ slot: Int) throws(StorageError) {
        guard case .toOne(let relationship, let destination) = entity.slots[slot].content,
            let gone = missing[schema[destination].root]
        else { return }
        let cursor = try writer.cursor(for: FetchPlan(entity: entity.index, entities: [entity.index])), batch = RowBatch()
        var keys: [Int64] = []
        while try cursor.next(into: batch) {
            for index in 0..<batch.count {
                let cell = batch.row(index)[slot]
                if !cell.isNull, gone.contains(cell.int) { keys.append(batch.key(index)) }
            }
        }
        if keys.isEmpty { return }
        if !relationship.isOptional {
            throw StorageError(
                .validationFailed,
                "\(entity.name).\(relationship.name) is required, but some of its objects refer to objects that the migration deletes",
                details: .init(entity: entity.name, property: relationship.name, keys: Array(keys.prefix(20))))
        }
        var mask = SlotMask()
        mask.insert(slot)
        let count = entity.slots.count, index = entity.index
        let rows = RowSource(count: keys.count) { range, batch in
            for position in range {
                batch.appendRow(key: keys[position], version: 1, entity: index, slots: count).update(repeating: .null, count: count)
            }
        }
        try writer.apply(
            ChangeSet(entities: [EntityChanges(entity: index, updates: [RowUpdate(mask: mask, checksVersion: false, rows: rows)])]))
    }

    private func clear(link: Int) throws(StorageError) {
        let description = schema.links[link]
        let owners = missing[schema[description.owner].root] ?? [], members = missing[schema[description.member].root] ?? []
        if owners.isEmpty, members.isEmpty { return }
        var removed: [LinkPair] = []
        try writer.links(link, side: .owner, keys: nil) { pairs throws(StorageError) in
            for pair in pairs where owners.contains(pair.owner) || members.contains(pair.member) { removed.append(pair) }
        }
        if !removed.isEmpty { try writer.apply(ChangeSet(links: [LinkChanges(link: link, removed: removed)])) }
    }
}
