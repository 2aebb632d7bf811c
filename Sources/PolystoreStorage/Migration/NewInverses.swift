/// Fills new to-one relationships that are the inverse of a relationship of the older version.
package struct NewInverses {
    /// A relationship with its pairs: the keys of the objects that have the relationship, and of the objects that they reference.
    private struct Inverse {
        let source: InverseSource
        let roots: (owner: EntityIndex, member: EntityIndex)
        var pairs: [(owner: Int64, member: Int64)] = []
    }

    private let schema: Schema
    private var inverses: [Inverse] = []

    /// Reads the references of the older version.
    ///
    /// - Parameter written: The hierarchies of the newer version whose objects the program creates. The program fills their relationships.
    package init(
        _ mapping: SchemaMapping, _ keys: MigrationKeys, _ source: ReadSession, except written: Set<EntityIndex>
    ) throws(StorageError) {
        schema = mapping.destination
        for inverse in mapping.inverses where !written.contains(schema[inverse.entity].root) {
            guard let ends = mapping.ends(of: inverse.pairs), let other = schema[inverse.entity].slots[inverse.slot].destination else {
                continue
            }
            let (ownerRoot, memberRoot) = (mapping.source[ends.owner].root, mapping.source[ends.member].root)
            var found = Inverse(source: inverse, roots: (schema[inverse.entity].root, schema[other].root))
            try source.pairs(inverse.pairs) { owner, member in
                let owner = keys.key(owner, from: ownerRoot, inHierarchyOf: inverse.entity)
                found.pairs.append((owner, keys.key(member, from: memberRoot, inHierarchyOf: other)))
            }
            inverses.append(found)
        }
    }

    /// Writes the references.
    ///
    /// - Parameter missing: The discarded objects, by root.
    /// - Throws: `validationFailed` with the keys of objects that several other objects reference.
    package func write(to writer: WriteSession, missing: [EntityIndex: Set<Int64>]) throws(StorageError) {
        for inverse in inverses {
            let keys = try references(inverse, missing)
            if keys.isEmpty { continue }
            for index in schema[inverse.source.entity].family where !schema[index].isAbstract {
                try write(inverse.source.slot, index, keys, writer)
            }
        }
    }

    private func references(_ inverse: Inverse, _ missing: [EntityIndex: Set<Int64>]) throws(StorageError) -> [Int64: Int64] {
        let owners = missing[inverse.roots.owner] ?? [], members = missing[inverse.roots.member] ?? []
        var found: [Int64: Int64] = [:], several: Set<Int64> = []
        for (owner, member) in inverse.pairs where !owners.contains(owner) && !members.contains(member) {
            if found.updateValue(member, forKey: owner) != nil { several.insert(owner) }
        }
        if several.isEmpty { return found }
        let entity = schema[inverse.source.entity], name = entity.slots[inverse.source.slot].name
        throw StorageError(
            .validationFailed,
            "\(entity.name).\(name) is a to-one relationship, but several objects refer to the same \(entity.name) by its inverse",
            details: .init(entity: entity.name, property: name, keys: Array(several.sorted().prefix(20))))
    }

    private func write(_ slot: Int, _ index: EntityIndex, _ keys: [Int64: Int64], _ writer: WriteSession) throws(StorageError) {
        let cursor = try writer.cursor(for: FetchPlan(entity: index, entities: [index], fields: .keysOnly)), batch = RowBatch()
        var pairs: [(key: Int64, reference: Int64)] = []
        while try cursor.next(into: batch) {
            for position in 0..<batch.count {
                if let reference = keys[batch.key(position)] { pairs.append((batch.key(position), reference)) }
            }
        }
        if pairs.isEmpty { return }
        let count = schema[index].slots.count
        var mask = SlotMask()
        mask.insert(slot)
        let rows = RowSource(count: pairs.count) { range, batch in
            for pair in pairs[range] {
                let cells = batch.appendRow(key: pair.key, version: 1, entity: index, slots: count)
                cells.update(repeating: .null, count: count)
                cells[slot] = .int(pair.reference)
            }
        }
        try writer.apply(
            ChangeSet(entities: [EntityChanges(entity: index, updates: [RowUpdate(mask: mask, checksVersion: false, rows: rows)])]))
    }
}

extension ReadSession {
    /// Calls `body` with the keys of each pair of one relationship of the schema.
    fileprivate func pairs(
        _ source: LinkSource, _ body: (_ owner: Int64, _ member: Int64) -> Void
    ) throws(StorageError) {
        switch source {
        case .none: return
        case .link(let link, let isFlipped):
            try links(link, side: .owner, keys: nil) { pairs throws(StorageError) in
                for pair in pairs { isFlipped ? body(pair.member, pair.owner) : body(pair.owner, pair.member) }
            }
        case .slot(let entity, let slot, let isFlipped):
            let cursor = try cursor(for: FetchPlan(schema, entity)), batch = RowBatch()
            while try cursor.next(into: batch) {
                for index in 0..<batch.count {
                    let cell = batch.row(index)[slot]
                    if !cell.isNull { isFlipped ? body(cell.int, batch.key(index)) : body(batch.key(index), cell.int) }
                }
            }
        }
    }
}
