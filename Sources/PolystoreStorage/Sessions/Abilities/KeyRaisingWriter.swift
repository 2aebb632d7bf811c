/// A write transaction that can raise a key counter by any amount at once.
package protocol KeyRaisingWriter: StorageWriter {
    /// Raises the key counter of a hierarchy above a key, unless it is already higher.
    func raiseKeys(_ root: EntityIndex, above key: Int64) throws(StorageError)
}

extension WriteSession {
    /// Raises the key counter of a hierarchy above a key of an object that was inserted with its key.
    ///
    /// - Throws: `limitExceeded` if no primary keys would be left.
    package func raiseKeys(_ root: EntityIndex, above key: Int64) throws(StorageError) {
        if key == .max {
            throw StorageError(
                .limitExceeded, "the greatest key of \(schema.entities[root].name) leaves no primary keys for new objects",
                details: .init(entity: schema.entities[root].name))
        }
        if let raising: any KeyRaisingWriter = writer.ability((any KeyRaisingWriter).self) {
            return try change { () throws(StorageError) in try raising.raiseKeys(root, above: key) }
        }
        var last = try reserveKeys(root, count: 1).upperBound
        while last <= key { last = try reserveKeys(root, count: Int(min(key - last + 1, 1 << 20))).upperBound }
    }
}
