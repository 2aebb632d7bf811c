package import PolystoreStorage

/// The derivation of a schema from the tables of a database.
///
/// A table becomes an entity, and its columns become attributes. A reference becomes a to-one relationship with a to-many inverse; a table
/// that consists of two references becomes a many-to-many relationship. Names are kept where possible.
struct CatalogDerivation {
    private let tables: [String: CatalogTable]
    private var drafts: [String: CatalogDraft] = [:]
    private var pairs: [[String]: String] = [:]
    private var written: [[String]: InPlaceTables.Pairs] = [:]
    private var remarks: [CatalogRemark]
    private let isInPlace: Bool
    /// The tables that are many-to-many relationships.
    private let joins: Set<String>

    private init(_ catalog: DatabaseCatalog) {
        let tables = Dictionary(catalog.tables.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        joins = catalog.joins
        isInPlace = catalog.isInPlace
        self.tables = tables
        remarks = catalog.remarks
    }

    /// Returns the source that a catalog describes.
    ///
    /// - Throws: `invalidConfiguration` where no schema can be derived.
    static func source(_ catalog: DatabaseCatalog) throws(StorageError) -> CatalogSource {
        var derivation = CatalogDerivation(catalog)
        let names = catalog.tables.map(\.name)
        derivation.addEntities(names)
        for name in names { derivation.addReferences(name) }
        for name in names { derivation.addJoin(name) }
        for name in names { derivation.addRules(name) }
        return try derivation.source(names)
    }

    /// Returns the destination table of a reference, if its row can be found and becomes an object.
    private func destination(_ key: CatalogForeignKey) -> CatalogTable? {
        guard let table = tables[key.table], table.isKey(key.references), key.columns.count == key.references.count else { return nil }
        return table
    }

    private mutating func addEntities(_ tableNames: [String]) {
        var names = CatalogNames()
        for name in tableNames {
            guard let table = tables[name], !joins.contains(name) else { continue }
            let references = table.foreignKeys.filter { $0.columns.count == 1 && destination($0) != nil }.flatMap(\.columns)
            let draft = CatalogDraft(table, name: names.distinct(name), references: Set(references.map(ExactText.init)))
            remark(renamed: name, draft.entity.name)
            for column in table.columns {
                if let property = draft.properties[ExactText(column.name)] {
                    remark(renamed: "\(name).\(column.name)", "\(draft.entity.name).\(property)")
                }
            }
            drafts[name] = draft
        }
    }

    private mutating func remark(renamed old: String, _ new: String) {
        if old != new { remarks.append("\(old) is named \(new)") }
    }

    // MARK: Relationships

    private mutating func addReferences(_ name: String) {
        guard var draft = drafts[name] else { return }
        for key in draft.table.foreignKeys {
            guard let destination = destination(key), let other = drafts[key.table]?.entity.name else {
                remarks.append(
                    """
                    the foreign key \(name).\(key.columns.joined(separator: ", ")) to \(key.table) is not a relationship: it does not \
                    refer to a key that is read
                    """)
                continue
            }
            if isInPlace, key.columns.count > 1 || draft.isTaken(key) {
                remarks.append(
                    """
                    the foreign key \(name).\(key.columns.joined(separator: ", ")) to \(key.table) is not a relationship: it has several \
                    columns, or its column belongs to another property
                    """)
                continue
            }
            let wanted = key.columns.count == 1 ? CatalogNames.relationship(key.columns[0], to: other) : other
            var relationship = Relationship(draft.names.distinct(wanted), to: other)
            relationship.isOptional = isOptional(key, draft.table)
            // The destination may be the entity itself, so its draft is stored first.
            drafts[name] = draft
            relationship.inverse = addInverse(relationship, of: draft, key)
            draft = drafts[name] ?? draft
            draft.add(relationship, key, to: destination)
        }
        drafts[name] = draft
    }

    /// Adds the inverse to-many relationship. Its name is that of the referring table, followed by the relationship's name where there are
    /// several.
    private mutating func addInverse(_ relationship: Relationship, of draft: CatalogDraft, _ key: CatalogForeignKey) -> String? {
        let isOnly = draft.table.foreignKeys.filter { $0.table == key.table }.count == 1
        let wanted = isOnly ? draft.entity.name : "\(draft.entity.name)_\(relationship.name)"
        guard let name = drafts[key.table]?.names.distinct(wanted) else { return nil }
        drafts[key.table]?.entity.relationships.append(
            Relationship(name, to: draft.entity.name, .toMany, inverse: relationship.name, deleteRule: key.deleteRule))
        return name
    }

    private func isOptional(_ key: CatalogForeignKey, _ table: CatalogTable) -> Bool {
        !key.isTrusted || table.columns.contains { key.columns.contains($0.name) && $0.isOptional }
    }

    private mutating func addJoin(_ name: String) {
        guard let table = tables[name], joins.contains(name) else { return }
        let first = table.foreignKeys[0], second = table.foreignKeys[1]
        guard let a = drafts[first.table]?.entity.name, let b = drafts[second.table]?.entity.name,
            let one = drafts[first.table]?.names.distinct(CatalogNames.relationship(second.columns[0], to: b)),
            let other = drafts[second.table]?.names.distinct(CatalogNames.relationship(first.columns[0], to: a))
        else { return }
        drafts[first.table]?.entity.relationships.append(Relationship(one, to: b, .toMany, inverse: other))
        drafts[second.table]?.entity.relationships.append(Relationship(other, to: a, .toMany, inverse: one))
        // The schema decides later which of the two owns the pairs.
        pairs[[a, one]] = select(table, owner: first, member: second)
        pairs[[b, other]] = select(table, owner: second, member: first)
        written[[a, one]] = pairs(table, owner: first, member: second)
        written[[b, other]] = pairs(table, owner: second, member: first)
    }

    private func pairs(_ table: CatalogTable, owner: CatalogForeignKey, member: CatalogForeignKey) -> InPlaceTables.Pairs? {
        guard let ownerTable = tables[owner.table], let memberTable = tables[member.table] else { return nil }
        return InPlaceTables.Pairs(
            name: table.name, source: table.source, owner: owner.written(ownerTable, in: table),
            member: member.written(memberTable, in: table), ownerKey: owner.key(ownerTable))
    }

    private func select(_ table: CatalogTable, owner: CatalogForeignKey, member: CatalogForeignKey) -> String? {
        guard let ownerTable = tables[owner.table], let memberTable = tables[member.table] else { return nil }
        let a = CatalogJoin(owner, ownerTable, alias: "a"), b = CatalogJoin(member, memberTable, alias: "b")
        let joins = [a, b].compactMap(\.table).map { " JOIN \($0)" }.joined()
        let present = (owner.columns + member.columns).map { "t.\(SQLText.quoted($0)) IS NOT NULL" }.joined(separator: " AND ")
        return
            "SELECT \(a.key) AS \"owner\", 0 AS \"rank\", \(b.key) AS \"member\" FROM \(table.source) AS t\(joins) WHERE \(present)"
    }

    // MARK: Rules and the result

    private mutating func addRules(_ name: String) {
        guard var draft = drafts[name] else { return }
        if !draft.applyChecks() {
            remarks.append("a CHECK constraint of \(name) is left out: it does not correspond to a rule of an attribute")
        }
        draft.addDefaults()
        draft.addConstraints()
        draft.addIndexes()
        drafts[name] = draft
    }

    private func source(_ names: [String]) throws(StorageError) -> CatalogSource {
        let drafts = names.compactMap { self.drafts[$0] }
        if drafts.isEmpty {
            let reasons = remarks.isEmpty ? "" : ": \(remarks.map(\.text).joined(separator: "; ").excerpt(300))"
            throw StorageError(.invalidConfiguration, "the database has no table that can be read\(reasons)")
        }
        let schema: Schema
        do throws(SchemaError) { schema = try Schema(entities: drafts.map(\.entity)) } catch { throw StorageError(error) }
        var links: [String: String] = [:], written: [String: InPlaceTables.Pairs] = [:]
        for link in schema.links {
            let place = [schema.entities[link.owner].name, link.ownerRelationship]
            links[link.name] = pairs[place]
            written[link.name] = self.written[place]
        }
        let rows = Dictionary(drafts.map { ($0.entity.name, $0.rows) }, uniquingKeysWith: { first, _ in first })
        var source = CatalogSource(schema: schema, rows: rows, links: links, remarks: remarks)
        source.written = Dictionary(drafts.map { ($0.entity.name, $0.written) }, uniquingKeysWith: { first, _ in first })
        source.pairs = written
        return source
    }
}

extension DatabaseCatalog {
    /// Returns the schema of the catalog and the source of its rows.
    ///
    /// - Throws: `invalidConfiguration` where no schema can be derived.
    package func source() throws(StorageError) -> CatalogSource { try CatalogDerivation.source(self) }
}
