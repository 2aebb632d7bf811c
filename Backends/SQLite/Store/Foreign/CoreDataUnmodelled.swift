#if SQLite
internal import PolystoreSQL
internal import PolystoreStorage

/// A file of Core Data that is read without its data model, from its tables alone.
struct CoreDataUnmodelled {
    private let file: CoreDataFile
    private let entries: [Int16: CoreDataFile.Entry]

    init(_ file: CoreDataFile) {
        self.file = file
        entries = Dictionary(file.entries.map { ($0.number, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns the topmost ancestor of an entity, or nil if its ancestors form a cycle.
    private func root(_ entry: CoreDataFile.Entry) -> CoreDataFile.Entry? {
        var here = entry
        for _ in 0..<entries.count {
            guard let parent = entries[here.parent] else { return here }
            here = parent
        }
        return nil
    }

    /// Returns a schema of the tables and the source of its rows.
    func source() throws(StorageError) -> CatalogSource {
        var entities: [Int16: Entity] = [:], rows: [String: CatalogSource.Rows] = [:], links: [[String]: String] = [:]
        var remarks: [CatalogRemark] = [
            "to-one relationships are read as integers; add the data model (model=X.xcdatamodeld) to read them as relationships"
        ]
        for entry in file.entries {
            guard let root = root(entry), let columns = file.columns[CoreDataFile.name(root.name)] else {
                remarks.append(CatalogRemark("the entity \(entry.name) is left out: it has no table", loss: entry.name))
                continue
            }
            var entity = Entity(entry.name, parent: entries[entry.parent]?.name)
            // Only the model could assign attributes to subentities.
            if root.number == entry.number { rows[entry.name] = add(columns, to: &entity, &remarks) }
            entities[entry.number] = entity
        }
        for join in file.joins {
            if !add(join, &entities, &links) {
                remarks.append(
                    CatalogRemark("the table \(join.table) is left out: the entities of its columns cannot be determined", loss: join.table)
                )
            }
        }
        let schema: Schema
        do throws(SchemaError) { schema = try Schema(entities: entities.keys.sorted().compactMap { entities[$0] }) } catch {
            throw StorageError(error)
        }
        var selects: [String: String] = [:]
        for link in schema.links { selects[link.name] = links[[schema.entities[link.owner].name, link.ownerRelationship]] }
        return CatalogSource(schema: schema, rows: rows, links: selects, remarks: remarks)
    }

    /// Adds the columns of attributes. Columns whose names have another prefix belong to Core Data itself.
    private func add(_ columns: [String: String], to entity: inout Entity, _ remarks: inout [CatalogRemark]) -> CatalogSource.Rows {
        var values: [String: String] = [:]
        for (column, type) in columns.sorted(by: { $0.key < $1.key }) {
            let name = String(column.dropFirst())
            guard column.first == "Z", let first = name.unicodeScalars.first, first.properties.isXIDStart else { continue }
            let place = "\(entity.name).\(name)"
            guard let form = Self.form(type) else {
                remarks.append(CatalogRemark("\(place) is left out: its column type is not one of Core Data", loss: place))
                continue
            }
            entity.attributes.append(Attribute(name, form.type, isOptional: true))
            values[name] = form.call(column, place: place)
        }
        return file.rows(table: CoreDataFile.name(entity.name), columns: values)
    }

    /// Returns the form of the values of a column, by Core Data's declared type.
    private static func form(_ type: String) -> SQLiteForm? {
        switch type.uppercased() {
        case "INTEGER": SQLiteForm(.int64)
        case "FLOAT": SQLiteForm(.double)
        case "DECIMAL": SQLiteForm(.decimal)
        case "VARCHAR": SQLiteForm(.string)
        case "TIMESTAMP": .referenceDate
        case "BLOB": SQLiteForm(.data)
        default: nil
        }
    }

    /// Adds a many-to-many relationship to both sides. Returns false where the table does not identify them.
    private func add(_ join: CoreDataJoin, _ entities: inout [Int16: Entity], _ links: inout [[String]: String]) -> Bool {
        guard let ends = join.ends, let owner = entities[ends.owner.number ?? join.number],
            let member = entities[ends.member.number ?? join.number],
            ends.owner.number != nil, ends.member.number != nil
        else { return false }
        let names = (own: ends.member.relationship, other: ends.owner.relationship)
        let taken = owner.relationships.map(\.name) + owner.attributes.map(\.name)
        let takenThere = member.relationships.map(\.name) + member.attributes.map(\.name)
        let isItself = owner.name == member.name && names.own == names.other
        if taken.contains(names.own) || takenThere.contains(names.other) || isItself { return false }
        let order = join.order(of: ends.member), otherOrder = order == nil ? join.order(of: ends.owner) : nil
        entities[ends.owner.number ?? 0]?.relationships.append(
            Relationship(names.own, to: member.name, order == nil ? .toMany : .toManyOrdered, inverse: names.other))
        entities[ends.member.number ?? 0]?.relationships.append(
            Relationship(names.other, to: owner.name, otherOrder == nil ? .toMany : .toManyOrdered, inverse: names.own))
        links[[owner.name, names.own]] = join.select(owner: ends.owner, member: ends.member, order: order)
        links[[member.name, names.other]] = join.select(owner: ends.member, member: ends.owner, order: otherOrder)
        return true
    }
}
#endif
