internal import PolystoreStorage

/// The tables of a schema as a person would declare them in SQL, under construction.
///
/// The reader of other programs' databases derives the same entities, attributes and references from them. Each entity that can have objects
/// has a table, with the inherited attributes, too.
struct PlainLayout {
    let schema: Schema
    let dialect: PlainDialect
    private(set) var result: PlainTables
    private var names: PlainNames
    private var positions: [EntityIndex: Int] = [:]

    init(_ schema: Schema, _ dialect: PlainDialect) {
        self.schema = schema
        self.dialect = dialect
        result = PlainTables(schema)
        names = PlainNames(dialect)
        for entity in schema.descriptions where !entity.isAbstract { addTable(entity) }
        for link in schema.links.indices { addPairs(link) }
        for table in result.tables { addStatements(table) }
        for pairs in result.pairs { addStatements(pairs) }
        for table in result.tables { addIndexes(table) }
        addNotes()
    }

    /// Adds a note, once.
    mutating func note(_ text: String) { if !result.notes.contains(text) { result.notes.append(text) } }

    private mutating func refuse(_ text: String?, loss: String? = nil) {
        guard let text, !result.refusals.contains(where: { $0.text == text }) else { return }
        result.refusals.append(PlainTables.Refusal(text, loss: loss))
    }

    // MARK: Tables

    private mutating func addTable(_ entity: EntityDescription) {
        refuse(names.add(entity.name, for: entity.name, isColumn: false))
        var columns: [PlainTables.Column] = [], taken = PlainNames(dialect)
        for (slot, content) in entity.slots.enumerated() where keeps(content) {
            let path = "\(entity.name).\(content.name)", name = content.destination == nil ? content.name : content.name + "_id"
            refuse(taken.add(name, for: path, isColumn: true))
            columns.append(
                PlainTables.Column(
                    name, slot: slot, type: content.type, stores: content.attribute.flatMap { dialect.stores($0.type) }, loss: path))
        }
        let key = taken.addFirst(["id", "_id", "row_id", "object_id"], for: "the primary key")
        positions[entity.index] = result.tables.count
        result.tables.append(PlainTables.Table(entity.name, of: entity.index, key: key, columns: columns))
    }

    /// Returns the inverse of a one-to-one relationship; nil for any other.
    private func inverse(_ relationship: Relationship, _ destination: EntityIndex) -> RelationshipDescription? {
        let inverse = relationship.inverse.flatMap { schema[destination].relationship($0) }
        return inverse?.relationship.cardinality == .toOne ? inverse : nil
    }

    /// Whether a slot has a column. Of the two sides of a one-to-one relationship only one has: the side that can be a foreign key, that is
    /// required, or whose rows a deletion of the other side deletes or protects.
    private func keeps(_ slot: Slot) -> Bool {
        guard case .toOne(let relationship, let destination) = slot.content, let inverse = inverse(relationship, destination) else {
            return true
        }
        func score(_ side: Relationship, _ destination: EntityIndex, _ other: Relationship) -> Int {
            let isSingle = schema[destination].family.filter { !schema[$0].isAbstract }.count == 1
            return (isSingle ? 4 : 0) + (side.isOptional ? 0 : 2) + (other.deleteRule == .nullify ? 0 : 1)
        }
        let own = score(relationship, destination, inverse.relationship)
        let other = score(inverse.relationship, inverse.destination, relationship)
        if own != other { return own > other }
        return (slot.declaredIn, slot.name) <= (inverse.declaredIn, inverse.relationship.name)
    }

    private mutating func addPairs(_ link: Int) {
        let description = schema.links[link], path = "\(schema[description.owner].name).\(description.ownerRelationship)"
        if description.isOrdered {
            refuse("the order of \(path) would be lost, because tables of other programs are read without an order", loss: path)
        }
        // The members of an ordered one-to-many relationship refer to their owner.
        if case .orderedInverseSlot = schema[description.owner].relationship(description.ownerRelationship)?.place { return }
        for end in [description.owner, description.member] { _ = target(of: path, to: end) }
        let name = "\(schema[description.owner].name)_\(description.ownerRelationship)"
        refuse(names.add(name, for: path, isColumn: false))
        var columns = PlainNames(dialect)
        // A relationship is read back under the name of the column that refers to its destination.
        let member = columns.addFirst([description.ownerRelationship + "_id"], for: path)
        let owner = columns.addFirst(
            [description.memberRelationship ?? schema[description.owner].name, schema[description.owner].name, "owner", "source"].map {
                $0 + "_id"
            }, for: path)
        for column in [member, owner] where column.utf8.count > dialect.names.limit {
            refuse("the name \(column.excerpt()) of the column for \(path.excerpt()) is longer than \(dialect.names.limit) bytes")
        }
        if description.memberRelationship == description.ownerRelationship, description.member == description.owner {
            note("\(path) is its own inverse, and the table has each pair once: search both columns")
        }
        result.pairs.append(PlainTables.Pairs(name, of: link, owner: owner, member: member))
    }

    /// Returns the table that references to an entity refer to, or nil after a refusal.
    private mutating func target(of path: String, to entity: EntityIndex, isReported: Bool = true) -> PlainTables.Table? {
        let found = schema[entity].family.filter { !schema[$0].isAbstract }
        if found.count == 1, let position = positions[found[0]] { return result.tables[position] }
        if isReported {
            let names = found.map { schema[$0].name }.joined(separator: ", ")
            refuse(
                found.isEmpty
                    ? "\(path) refers to \(schema[entity].name), which is abstract and has no subentities, so there is no table"
                    : "\(path) refers to objects of several entities (\(names)), and a foreign key refers to one table")
        }
        return nil
    }

    // MARK: Statements

    private mutating func addStatements(_ table: PlainTables.Table) {
        let entity = schema[table.entity], name = SQLText.quoted(table.name)
        var lines = ["\(SQLText.quoted(table.key)) \(dialect.key)"]
        for column in table.columns {
            switch entity.slots[column.slot].content {
            case .attribute(let attribute): lines.append(definition(attribute, column))
            case .toOne(let relationship, let destination):
                let required = relationship.isOptional ? "" : " NOT NULL", quoted = SQLText.quoted(column.name)
                let line = "\(quoted) \(dialect.reference)\(required)"
                guard let target = target(of: column.loss, to: destination) else {
                    lines.append(line)
                    continue
                }
                let rule = deletion(relationship, destination)
                if dialect.altersTables {
                    lines.append(line)
                    result.finishing.append("ALTER TABLE \(name) ADD FOREIGN KEY (\(quoted)) \(references(target)) ON DELETE \(rule)")
                } else {
                    lines.append("\(line) \(references(target)) ON DELETE \(rule)")
                }
            }
        }
        for columns in uniqueKeys(table) {
            let clause = "UNIQUE (\(list(columns)))"
            if dialect.altersTables { result.finishing.append("ALTER TABLE \(name) ADD \(clause)") } else { lines.append(clause) }
        }
        result.statements.append("CREATE TABLE \(name) (\n    \(lines.joined(separator: ",\n    "))\n)")
    }

    private mutating func addStatements(_ pairs: PlainTables.Pairs) {
        let link = schema.links[pairs.link], name = SQLText.quoted(pairs.name)
        var lines: [String] = []
        for (column, entity, relationship) in [
            (pairs.owner, link.owner, schema[link.owner].relationship(link.ownerRelationship)),
            (pairs.member, link.member, link.memberRelationship.flatMap { schema[link.member].relationship($0) }),
        ] {
            let line = "\(SQLText.quoted(column)) \(dialect.reference) NOT NULL"
            guard let target = target(of: "", to: entity, isReported: false) else { continue }
            let rule = relationship?.relationship.deleteRule == .deny ? "RESTRICT" : "CASCADE"
            if dialect.altersTables {
                lines.append(line)
                result.finishing.append(
                    "ALTER TABLE \(name) ADD FOREIGN KEY (\(SQLText.quoted(column))) \(references(target)) ON DELETE \(rule)")
            } else {
                lines.append("\(line) \(references(target)) ON DELETE \(rule)")
            }
        }
        lines.append("PRIMARY KEY (\(list([pairs.owner, pairs.member])))")
        result.statements.append("CREATE TABLE \(name) (\n    \(lines.joined(separator: ",\n    "))\n)")
        addIndex(pairs.name, [pairs.member])
    }

    private func list(_ columns: [String]) -> String { columns.map(SQLText.quoted).joined(separator: ", ") }

    private func references(_ table: PlainTables.Table) -> String {
        "REFERENCES \(SQLText.quoted(table.name)) (\(SQLText.quoted(table.key)))"
    }

    /// Returns the action of a foreign key when the row that it refers to is deleted: the delete rule of the other side.
    private func deletion(_ relationship: Relationship, _ destination: EntityIndex) -> String {
        let inverse = relationship.inverse.flatMap { schema[destination].relationship($0) }
        switch inverse?.relationship.deleteRule ?? .nullify {
        case .cascade: return "CASCADE"
        case .deny: return "RESTRICT"
        // A required reference cannot become nil.
        case .nullify: return relationship.isOptional ? "SET NULL" : "RESTRICT"
        }
    }

    /// Returns the columns of each unique constraint: those of the schema, and the reference of a one-to-one relationship.
    private func uniqueKeys(_ table: PlainTables.Table) -> [[String]] {
        let entity = schema[table.entity]
        var keys: [[String]] = []
        for column in table.columns {
            guard case .toOne(let relationship, let destination) = entity.slots[column.slot].content,
                inverse(relationship, destination) != nil
            else { continue }
            keys.append([column.name])
        }
        for constraint in entity.uniqueConstraints {
            guard let columns = columns(constraint.slots, table) else { continue }
            if !keys.contains(columns) { keys.append(columns) }
        }
        return keys
    }

    /// Returns the columns of slots; nil if one of them has none.
    func columns(_ slots: [Int], _ table: PlainTables.Table) -> [String]? {
        let names = slots.compactMap { slot in table.columns.first { $0.slot == slot }?.name }
        return names.count == slots.count ? names : nil
    }

    // MARK: Indexes

    private mutating func addIndexes(_ table: PlainTables.Table) {
        let entity = schema[table.entity], unique = uniqueKeys(table)
        var indexed: [[String]] = []
        for slots in entity.indexes {
            guard let columns = columns(slots, table) else { continue }
            if !unique.contains(columns), !indexed.contains(columns) { indexed.append(columns) }
        }
        for column in table.columns where entity.slots[column.slot].destination != nil {
            if !(unique + indexed).contains(where: { $0.first == column.name }) { indexed.append([column.name]) }
        }
        for columns in indexed { addIndex(table.name, columns) }
    }

    private mutating func addIndex(_ table: String, _ columns: [String]) {
        let name = dialect.namesIndexes ? SQLText.quoted(names.addDistinct(([table] + columns).joined(separator: "_"))) + " " : ""
        result.finishing.append("CREATE INDEX \(name)ON \(SQLText.quoted(table)) (\(list(columns)))")
    }
}
