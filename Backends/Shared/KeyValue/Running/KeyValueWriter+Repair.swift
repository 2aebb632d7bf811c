internal import PolystoreStorage

extension KeyValueWriter: RepairingWriter {
    func rebuildIndexes(of table: String) throws(StorageError) {
        try finishLoading()
        beside.quietly()
        guard let root = core.schema.index(of: table), core.schema[root].root == root else { return }
        for index in core.layout.indexes(ofHierarchy: root) { try maps.clear(index.map) }
        try decodedRows(root) { row throws(StorageError) in
            try indexes.check(row, core.layout.indexes[row.entity])
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
}
