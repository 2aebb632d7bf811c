public import PolystoreStorage

/// The tables of a schema: one for each hierarchy, one for each link, with their columns and indexes.
public struct SQLTables: Sendable {
    /// The schema.
    public let schema: Schema
    /// The dialect.
    public let dialect: SQLDialect
    /// What `_entity` holds for each entity.
    public let entityNumbers: [Int16]

    /// The tables of a schema in a dialect.
    public init(_ schema: Schema, _ dialect: SQLDialect, entityNumbers: [Int16]) {
        self.schema = schema
        self.dialect = dialect
        self.entityNumbers = entityNumbers
    }

    /// The name of the table of an entity's hierarchy.
    public func table(_ entity: EntityIndex) -> String { name(schema.entities[schema[entity].root].name) }

    /// The name of a link table.
    public func table(link: Int) -> String { name(schema.links[link].name) }

    /// The name of the column of a slot.
    public func column(_ entity: EntityIndex, _ slot: Int) -> String {
        let description = schema[entity]
        return name(schema[description.root].columns[description.slots[slot].column].name)
    }

    /// A name as the engine holds it: one over the limit is cut and given a hash, so that it stays unique.
    public func name(_ text: String) -> String {
        guard text.utf8.count > dialect.identifierLimit else { return text }
        let hash = String(SchemaHash(of: text).description.prefix(12))
        var cut = text
        while cut.utf8.count > dialect.identifierLimit - 13 { cut.removeLast() }
        return cut + "_" + hash
    }

    /// The statements that make all tables.
    public func creation() -> [String] {
        schema.roots.map(createTable) + schema.links.indices.map(createLink)
    }

    /// The statements that make all indexes, unique ones included.
    public func indexCreation() -> [String] { indexes().map(\.creation) }

    /// An index of a table.
    public struct IndexStatement: Sendable {
        /// The entity whose hierarchy it belongs to.
        public let root: EntityIndex
        /// Its name.
        public let name: String
        /// The statement that makes it.
        public let creation: String
        /// The constraint that it keeps; nil for a plain index.
        public let constraint: ResolvedConstraint?
    }

    /// All indexes: of to-one keys, of declared indexes and of unique constraints.
    public func indexes() -> [IndexStatement] {
        var result: [IndexStatement] = []
        for description in schema.descriptions {
            let own = description.slots.indices.filter { description.slots[$0].declaredIn == description.index }
            for slot in own where description.slots[slot].destination != nil {
                result.append(index(description, [slot], nil))
            }
            for index in schema.entities[description.index].indexes {
                result.append(self.index(description, index.properties.compactMap(description.slot), nil))
            }
            for constraint in description.uniqueConstraints where constraint.declaredIn == description.index {
                result.append(index(description, constraint.slots, constraint))
            }
        }
        var seen: Set<String> = []
        return result.filter { seen.insert($0.name).inserted }
    }

    private func index(_ description: EntityDescription, _ slots: [Int], _ constraint: ResolvedConstraint?) -> IndexStatement {
        let columns = slots.map { column(description.index, $0) }
        let kind = constraint == nil ? "index" : "unique"
        let name = name("\(description.name).\(kind).\(slots.map { description.slots[$0].name }.joined(separator: "."))")
        let keys =
            constraint == nil
            ? columns.map { dialect.indexKey(SQLText.quoted($0)) } + [SQLText.quoted("_id")] : columns.map(SQLText.quoted)
        let unique = constraint == nil ? "" : "UNIQUE "
        let creation =
            "CREATE \(unique)INDEX \(SQLText.quoted(name)) ON \(SQLText.quoted(table(description.index)))(\(keys.joined(separator: ", ")))"
        return IndexStatement(root: description.root, name: name, creation: creation, constraint: constraint)
    }

    private func createTable(_ root: EntityIndex) -> String {
        var columns = ["\"_id\" \(dialect.typeName(.int64)) PRIMARY KEY"]
        if schema[root].isHierarchy { columns.append("\"_entity\" \(dialect.typeName(.int16)) NOT NULL") }
        columns.append("\"_version\" \(dialect.typeName(.int64)) NOT NULL")
        columns += schema[root].columns.map { "\(SQLText.quoted(name($0.name))) \(dialect.typeName($0.type))" }
        return "CREATE TABLE \(SQLText.quoted(table(root)))(\(columns.joined(separator: ", ")))\(dialect.tableOptions)"
    }

    private func createLink(_ link: Int) -> String {
        let type = dialect.typeName(.int64)
        let table = SQLText.quoted(table(link: link))
        return """
            CREATE TABLE \(table)("owner" \(type) NOT NULL, "rank" \(type) NOT NULL, "member" \(type) NOT NULL, \
            PRIMARY KEY("owner", "member"))\(dialect.linkOptions); \
            CREATE INDEX \(SQLText.quoted(name(schema.links[link].name + ".member"))) ON \(table)("member", "owner")
            """
    }
}
