internal import PolystoreStorage

extension KeyValueWriter: RepairingWriter {
    func rebuildIndexes(of table: String, onlyBlocked: Bool) throws(StorageError) {
        try finishLoading()
        // An index can have entries of several rows with the same values.
        if onlyBlocked { return }
        beside.quietly()
        guard let root = core.schema.index(of: table), core.schema[root].root == root else { return }
        for index in core.layout.indexes(ofHierarchy: root) { try maps.clear(index.map) }
        try decodedRows(root) { row throws(StorageError) in
            try indexes.add(row, core.layout.keptIndexes[row.entity])
        }
    }

    func removeUnreadableRow(_ root: EntityIndex, key: Int64) throws(StorageError) {
        try finishLoading()
        let map = core.layout.rows[root]
        let isRemoved = try RowKey(key).withBytes { bytes throws(StorageError) in try maps.delete(map, bytes) }
        if !isRemoved {
            let name = core.schema.entities[root].name
            throw StorageError(.notFound, "\(name) \(key) no longer exists", details: .init(entity: name, keys: [key]))
        }
        recorder.delete(root, key)
    }

    func setVersion(_ entity: EntityIndex, key: Int64, to version: Int64) throws(StorageError) {
        try finishLoading()
        let map = core.layout.rows[entity], row = try oldRow(entity, map, key), count = core.layout.kinds[row.entity].count
        try put(map, key, row.cells, count, core.layout.entityNumbers[row.entity], version)
        recorder.update(row.entity, key, SlotMask())
    }
}
