package import PolystoreStorage

extension PlainTables {
    /// Creates the tables of a schema.
    package init(_ schema: Schema, _ dialect: PlainDialect) { self = PlainLayout(schema, dialect).result }

    /// Returns the tables as a store that opens the database of another program reads them.
    ///
    /// - Parameters:
    ///   - source: The schema that was derived from the tables.
    ///   - reader: A session that reads with that schema.
    /// - Throws: `corrupted` if a table or a column is not read back.
    package func copy(_ source: CatalogSource, _ reader: any StorageReader) throws(StorageError) -> PlainCopy {
        var places: [PlainCopy.Place] = [], links: [PlainCopy.LinkPlace] = []
        for table in tables { places.append(try Self.place(of: table, in: source)) }
        for table in pairs {
            let link = source.schema.links.firstIndex { source.pairs[$0.name]?.name == table.name }
            guard let link, let found = source.pairs[source.schema.links[link].name] else { throw Self.isNotRead(table.name) }
            links.append(PlainCopy.LinkPlace(link, isTurned: found.owner.name != table.owner))
        }
        return PlainCopy(reader, source.schema, tables: places, pairs: links)
    }

    private static func place(of table: Table, in source: CatalogSource) throws(StorageError) -> PlainCopy.Place {
        guard let (name, written) = source.written.first(where: { $0.value.name == table.name }), written.key == table.key,
            let entity = source.schema.index(of: name)
        else { throw isNotRead(table.name) }
        let properties = Dictionary(written.columns.map { ($0.value.name, $0.key) }, uniquingKeysWith: { first, _ in first })
        var slots: [Int] = []
        for column in table.columns {
            guard let slot = properties[column.name].flatMap({ source.schema[entity].slot($0) }) else {
                throw isNotRead("\(table.name).\(column.name)")
            }
            slots.append(slot)
        }
        return PlainCopy.Place(entity, slots: slots)
    }

    private static func isNotRead(_ name: String) -> StorageError {
        StorageError(.corrupted, "\(name) is not read back from the new tables as it was written; nothing was committed")
    }
}

extension StorageError {
    /// Returns the error of a table that exists where a new one is to be made.
    package static func tableExists(_ name: String, in place: String) -> StorageError {
        StorageError(
            .alreadyExists, "\(place) already contains \(SQLText.quoted(name)); choose another target, or remove it",
            details: .init(entity: name))
    }
}
