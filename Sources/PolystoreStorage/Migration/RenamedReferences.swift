/// Updates references into other stores to the new names of their destination hierarchies: the identity of an object contains the name of
/// its root entity.
package struct RenamedReferences {
    private let names: [String: String]
    private let writer: WriteSession

    /// Creates an update of the references in a migrated store.
    ///
    /// References into a hierarchy that was split stay as they are, because the identity of an object does not say where it went; so do those
    /// into one whose keys were raised when it was merged into another, because only the destination's store knows by how much.
    package init(_ mapping: SchemaMapping, _ writer: WriteSession) {
        var names: [String: Set<String>] = [:]
        for part in mapping.entities {
            let root = mapping.source[part.source].root, newRoot = mapping.destination[part.destination].root
            let old = mapping.source.entities[root].name, keepsKeys = mapping.origins(ofRoot: newRoot).first == root
            names[old, default: []].insert(keepsKeys ? mapping.destination.entities[newRoot].name : old)
        }
        self.names = names.compactMapValues { $0.count == 1 ? $0.first : nil }.filter { $0.key != $0.value }
        self.writer = writer
    }

    /// Writes the references that have another name now.
    package func write() throws(StorageError) {
        if names.isEmpty { return }
        for entity in writer.schema.descriptions where !entity.isAbstract {
            for (slot, description) in entity.slots.enumerated() where description.attribute?.crossReference != nil {
                try write(entity, slot)
            }
        }
    }

    private func write(_ entity: EntityDescription, _ slot: Int) throws(StorageError) {
        let cursor = try writer.cursor(for: FetchPlan(entity: entity.index, entities: [entity.index])), batch = RowBatch()
        var renamed: [(key: Int64, reference: Value)] = []
        while try cursor.next(into: batch) {
            for index in 0..<batch.count {
                guard case .string(let text)? = Value(batch.row(index)[slot], as: .string), let reference = ObjectKey(text),
                    let root = names[reference.root]
                else { continue }
                renamed.append((batch.key(index), ObjectKey(store: reference.store, root: root, key: reference.key).constant))
            }
        }
        if renamed.isEmpty { return }
        var mask = SlotMask()
        mask.insert(slot)
        let count = entity.slots.count
        let rows = RowSource(count: renamed.count) { range, batch in
            for (key, reference) in renamed[range] {
                let cells = batch.appendRow(key: key, version: 1, entity: entity.index, slots: count)
                cells.update(repeating: .null, count: count)
                cells[slot] = batch.cell(for: reference)
            }
        }
        try writer.apply(
            ChangeSet(entities: [EntityChanges(entity: entity.index, updates: [RowUpdate(mask: mask, checksVersion: false, rows: rows)])]))
    }
}
