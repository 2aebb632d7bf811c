package import PolystoreStorage

extension LoadMapping {
    /// Creates the mapping of a file with records of objects, as a transfer writes those of rows that it has left out: each record names its
    /// entity. Returns nil if the first record does not.
    ///
    /// - Throws: `valueNotStorable` for a later record without an entity.
    package init?(objectsIn blocks: FileBlocks, _ name: String) throws(StorageError) {
        var bytes = try ByteReader(blocks, name)
        guard try RecordFormat(name, &bytes) == .jsonLines else { return nil }
        var records = NDJSONRecords(bytes), entities: Set<String> = [], isFirst = true
        while let record = try records.next() {
            if record.problem != nil, !isFirst { continue }
            guard let entity = record.objectEntity else {
                if isFirst { return nil }
                throw StorageError(
                    .valueNotStorable,
                    "\(name.excerpt()), line \(record.line): the record has no \"\(ObjectRecord.entity)\" with the name of its entity"
                )
            }
            entities.insert(entity)
            isFirst = false
        }
        if entities.isEmpty { return nil }
        self.init(
            files: entities.sorted().map { entity in
                var file = File(file: name, entity: entity)
                file.hasObjects = true
                return file
            })
    }
}
