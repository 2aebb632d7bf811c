#if SQLite
internal import PolystoreSQL
internal import PolystoreStorage

/// A file of Core Data that is read with its data model.
struct CoreDataModelled {
    private let file: CoreDataFile
    private let model: XcodeDataModel.Version
    private var schema: Schema { model.schema }

    init(_ file: CoreDataFile, _ model: XcodeDataModel.Version) {
        self.file = file
        self.model = model
    }

    /// Returns the schema of the model and the source of its rows.
    ///
    /// - Throws: `schemaMismatch` if the file was created with another version of the model.
    func source() throws(StorageError) -> CatalogSource {
        let numbered = Set(file.entries.map(\.name))
        if let entity = schema.entities.first(where: { !numbered.contains($0.name) && !$0.isAbstract }) {
            throw mismatch("it has no entity \(entity.name)\(Suggestion.nearest(entity.name, in: numbered.sorted()))")
        }
        var rows: [String: CatalogSource.Rows] = [:], links: [String: String] = [:]
        for root in schema.roots { rows[schema.entities[root].name] = try self.rows(root) }
        for link in schema.links { links[link.name] = try select(link) }
        let known = Set(schema.entities.map(\.name))
        let others = file.entries.map(\.name).filter { !known.contains($0) }.map {
            CatalogRemark("the entity \($0) is left out: the model has no entity of this name", loss: $0)
        }
        return CatalogSource(
            schema: schema, rows: rows, links: links, remarks: model.leftOut.map { CatalogRemark("left out: \($0)") } + others)
    }

    private func mismatch(_ reason: String) -> StorageError {
        StorageError(.schemaMismatch, "the Core Data file does not match the model \"\(model.name)\": \(reason)")
    }

    // MARK: Rows

    private func rows(_ root: EntityIndex) throws(StorageError) -> CatalogSource.Rows {
        let table = CoreDataFile.name(schema.entities[root].name)
        guard let found = file.columns[table] else { throw mismatch("it has no table \(table)") }
        var values: [String: String] = [:], owners: [String: String] = [:]
        for entity in schema[root].family {
            for slot in schema[entity].slots where slot.declaredIn == entity {
                let column = CoreDataFile.name(slot.name), place = "\(schema.entities[entity].name).\(slot.name)"
                if let other = owners.updateValue(place, forKey: column) {
                    throw StorageError(
                        .unsupported,
                        "\(other) and \(place) have the same column name in the table \(table), and only Core Data knows their columns"
                    )
                }
                guard found[column] != nil else { throw mismatch("\(place) has no column \(column) in \(table)") }
                values[schema[root].columns[slot.column].name] = value(slot, column, place)
            }
        }
        return file.rows(table: table, columns: values)
    }

    private func value(_ slot: Slot, _ column: String, _ place: String) -> String {
        guard let attribute = slot.attribute else { return "t.\(SQLText.quoted(column))" }
        if model.outsideData.contains(place) { return SQLiteForm.outsideData.call(column, place: place, folder: file.folder) }
        let form = attribute.type == .date ? SQLiteForm.referenceDate : SQLiteForm(attribute.type)
        return form.call(column, place: place)
    }

    // MARK: Links

    private func select(_ link: LinkDescription) throws(StorageError) -> String {
        guard let name = link.memberRelationship, let inverse = schema[link.member].relationship(name) else {
            throw StorageError(
                .unsupported,
                "\(link.name) has no inverse, so the columns of its pairs are not known; declare an inverse in the model"
            )
        }
        guard case .slot = inverse.place else { return try join(link, name) }
        let table = CoreDataFile.name(schema.entities[schema[link.member].root].name)
        let reference = CoreDataFile.name(name), order = "Z_FOK_" + name.uppercased()
        guard file.columns[table]?[order] != nil else { throw mismatch("\(link.name) is ordered, but \(table) has no column \(order)") }
        let owner = "t.\(SQLText.quoted(reference))"
        return
            "SELECT \(owner) AS \"owner\", \(CoreDataFile.rank(order)) AS \"rank\", t.\"Z_PK\" AS \"member\" "
            + "FROM main.\(SQLText.quoted(table)) AS t WHERE \(owner) IS NOT NULL"
    }

    /// Returns the pairs of a many-to-many relationship. Either of the two relationships may name the table.
    private func join(_ link: LinkDescription, _ inverse: String) throws(StorageError) -> String {
        let own = link.ownerRelationship.uppercased(), other = inverse.uppercased()
        let owners = numbers(link.owner), members = numbers(link.member)
        for join in file.joins {
            guard let ends = join.ends else { continue }
            let isForward = join.relationship == own && owners.contains(join.number)
            let isBackward = join.relationship == other && members.contains(join.number)
            for (isMeant, owner, member) in [(isForward, ends.owner, ends.member), (isBackward, ends.member, ends.owner)] {
                guard isMeant, Self.leads(owner, owners, other), Self.leads(member, members, own) else { continue }
                let order = join.order(of: member)
                if link.isOrdered, order == nil { throw mismatch("\(link.name) is ordered, but \(join.table) has no column for the order") }
                return join.select(owner: owner, member: member, order: link.isOrdered ? order : nil)
            }
        }
        throw mismatch("no table contains the pairs of \(link.name)")
    }

    private static func leads(_ side: CoreDataJoin.Side, _ numbers: Set<Int16>, _ relationship: String) -> Bool {
        guard let number = side.number else { return true }
        let rest = side.relationship.dropFirst(relationship.count)
        return numbers.contains(number) && side.relationship.hasPrefix(relationship) && rest.allSatisfy { $0.isASCII && $0.isNumber }
    }

    /// Returns the entity numbers that may be part of a column's name: those of the entity, its ancestors and its subentities.
    private func numbers(_ entity: EntityIndex) -> Set<Int16> {
        let family = schema[schema[entity].root].family.filter { schema[entity].family.contains($0) || schema[$0].family.contains(entity) }
        let names = Set(family.map { schema.entities[$0].name })
        return Set(file.entries.filter { names.contains($0.name) }.map(\.number))
    }
}
#endif
