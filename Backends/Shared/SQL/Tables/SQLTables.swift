public import PolystoreStorage

/// The tables of a schema: one for each hierarchy, one for each link, with their columns and indexes.
public struct SQLTables: Sendable {
    /// The schema.
    public let schema: Schema
    /// The dialect.
    public let dialect: SQLDialect
    /// What `_entity` holds for each entity.
    public let entityNumbers: [Int16]
    private let names: SQLNames
    /// Tables, indexes and sequences that lie under another name while a migration runs.
    private let moved: [String: String]
    /// Columns that do, by the root of their hierarchy.
    private let movedColumns: [EntityIndex: [Int: String]]
    let partialIndexes: SQLPartialIndexes
    /// The columns with a full-text index, by root and column.
    private(set) var fullTextColumns: [EntityIndex: [Int: SQLFullText.Column]] = [:]

    /// The tables of a schema in a dialect.
    ///
    /// - Parameters:
    ///   - moved: Tables, indexes and sequences that lie under another name for now.
    ///   - movedColumns: Columns that do, by the root of their hierarchy.
    public init(
        _ schema: Schema, _ dialect: SQLDialect, entityNumbers: [Int16], moved: [String: String] = [:],
        movedColumns: [EntityIndex: [Int: String]] = [:]
    ) {
        self.schema = schema
        self.dialect = dialect
        self.entityNumbers = entityNumbers
        self.moved = moved
        self.movedColumns = movedColumns
        partialIndexes = SQLPartialIndexes(schema)
        names = SQLNames(schema, dialect.names, indexes: Self.declaredIndexes(schema).map(\.text))
        if dialect.fullText == nil { return }
        for index in Self.declaredIndexes(schema) {
            guard index.kind == .fullText, let slot = index.slots.first else { continue }
            fullTextColumns[index.entity.root, default: [:]][index.entity.slots[slot].column] = fullTextColumn(index, slot)
        }
    }

    private func fullTextColumn(_ index: DeclaredIndex, _ slot: Int) -> SQLFullText.Column {
        SQLFullText.Column(
            index: place(names.relation(index.text)), table: table(index.entity.index), name: column(index.entity.index, slot))
    }

    /// The name of the table of an entity's hierarchy.
    public func table(_ entity: EntityIndex) -> String { place(names.relation(schema.entities[schema[entity].root].name)) }

    /// The names of all tables.
    package var tableNames: [String] { schema.roots.map { table($0) } + schema.links.indices.map { table(link: $0) } }

    /// The name of a link table.
    public func table(link: Int) -> String { place(names.relation(schema.links[link].name)) }

    private func place(_ relation: String) -> String { moved[relation] ?? relation }

    /// The name of the column of a slot.
    public func column(_ entity: EntityIndex, _ slot: Int) -> String {
        let description = schema[entity]
        return column(root: description.root, description.slots[slot].column)
    }

    /// The name of a column of a hierarchy's table.
    public func column(root: EntityIndex, _ column: Int) -> String { movedColumns[root]?[column] ?? names.column(root, column) }

    /// The name of the sequence that gives the keys of a hierarchy, for engines that have some.
    public func keySequence(_ root: EntityIndex) -> String { place(name("polystore_keys." + schema.entities[root].name)) }

    /// A name of the store's own as the engine holds it.
    public func name(_ text: String) -> String { SQLNames.fitted(text, dialect.names) }

    /// The statements that make all tables.
    public func creation() -> [String] {
        schema.roots.map { createTable(root: $0) } + schema.links.indices.map(createLink)
    }

    /// From so many rows that a bulk load adds on, the statistics of a table are made again.
    package static let analyzedRows = 1000

    /// The statements that make all indexes, unique ones included.
    public func indexCreation() -> [String] { indexes().map(\.creation) }

    /// An index of a table.
    public struct IndexStatement: Sendable {
        /// The entity whose hierarchy it belongs to.
        public let root: EntityIndex
        /// Its name.
        public let name: String
        /// The statements that make it.
        public let creation: String
        /// The statements that remove it.
        public let removal: String
        /// The constraint that it keeps; nil for a plain index.
        public let constraint: ResolvedConstraint?
        /// The columns that it speaks of.
        public let columns: [String]
        /// The columns that its condition looks at.
        let conditionColumns: [String]
        /// The rows that a constraint binds; nil for all.
        public let condition: String?
        /// Whether it is a table of its own, which does not go with the one that it belongs to.
        public let isTable: Bool
    }

    /// The unique constraint that an index keeps: one of ours, or while two versions of a model are used the same one of the other.
    public func constraint(ofIndex name: String) -> ResolvedConstraint? {
        let indexes = indexes()
        return (indexes.first { $0.name == name } ?? indexes.first { moved[name] == $0.name })?.constraint
    }

    /// All indexes: of to-one keys, of declared indexes and of unique constraints.
    public func indexes() -> [IndexStatement] { Self.declaredIndexes(schema).compactMap(index) }

    private struct DeclaredIndex {
        let text: String
        let entity: EntityDescription
        let slots: [Int]
        let kind: Index.Kind
        let constraint: ResolvedConstraint?
        let condition: CheckedPredicate?

        init(_ entity: EntityDescription, _ slots: [Int], _ constraint: ResolvedConstraint? = nil) {
            let kind = constraint == nil ? "index" : "unique"
            text = "\(entity.name).\(kind).\(slots.map { entity.slots[$0].name }.joined(separator: "."))"
            self.kind = .ordered
            condition = nil
            self.entity = entity
            self.slots = slots
            self.constraint = constraint
        }

        init(_ entity: EntityDescription, _ index: Index, _ schema: Schema) {
            condition = SQLPartialIndexes.condition(of: index, entity.name, schema)
            let suffix = index.condition.map { " where \($0)" } ?? ""
            let properties = index.properties.joined(separator: ".")
            text =
                switch index.kind {
                case .ordered: "\(entity.name).index.\(properties)\(suffix)"
                // SQLite adds "_data" and the like for tables of its own: at the end, because no name of a property ends so.
                case .fullText: "\(entity.name).fullText.\(properties).words"
                }
            kind = index.kind
            self.entity = entity
            slots = index.properties.compactMap(entity.slot)
            constraint = nil
        }
    }

    private static func declaredIndexes(_ schema: Schema) -> [DeclaredIndex] {
        var result: [DeclaredIndex] = []
        for entity in schema.descriptions {
            let own = entity.slots.indices.filter { entity.slots[$0].declaredIn == entity.index }
            result += own.filter { entity.slots[$0].destination != nil }.map { DeclaredIndex(entity, [$0]) }
            result += schema.entities[entity.index].indexes.map { DeclaredIndex(entity, $0, schema) }
            result += entity.uniqueConstraints.filter { $0.declaredIn == entity.index }.map { DeclaredIndex(entity, $0.slots, $0) }
        }
        var seen: Set<String> = []
        return result.filter { seen.insert($0.text).inserted }
    }

    private func index(_ index: DeclaredIndex) -> IndexStatement? {
        let name = place(names.relation(index.text))
        let columns = index.slots.map { column(index.entity.index, $0) }
        switch index.kind {
        case .ordered:
            return IndexStatement(
                root: index.entity.root, name: name, creation: creation(index, name), removal: "DROP INDEX \(SQLText.quoted(name))",
                constraint: index.constraint, columns: columns,
                conditionColumns: index.condition.map { SQLPredicates(tables: self).columns($0) } ?? [],
                condition: index.constraint.flatMap(condition), isTable: false)
        case .fullText:
            guard let fullText = dialect.fullText, let slot = index.slots.first else { return nil }
            let column = fullTextColumn(index, slot)
            return IndexStatement(
                root: index.entity.root, name: name, creation: fullText.creation(column), removal: fullText.removal(column),
                constraint: nil, columns: columns, conditionColumns: [], condition: nil, isTable: true)
        }
    }

    private func creation(_ index: DeclaredIndex, _ name: String) -> String {
        let columns = index.slots.map { SQLText.quoted(column(index.entity.index, $0)) }
        let isUnique = index.constraint != nil
        let keys = isUnique ? columns : columns.map(dialect.indexKey) + [SQLText.quoted("_id")]
        let table = SQLText.quoted(table(index.entity.index))
        let rows = index.constraint.flatMap(condition) ?? index.condition.flatMap(SQLPredicates(tables: self).indexCondition)
        let condition = rows.map { " WHERE \($0)" } ?? ""
        return "CREATE \(isUnique ? "UNIQUE " : "")INDEX \(SQLText.quoted(name)) ON \(table)(\(keys.joined(separator: ", ")))\(condition)"
    }

    /// The rows of a hierarchy's table that a unique constraint binds, by their entity; nil where its index can hold all.
    ///
    /// A constraint binds the objects of the entity that declares it and of those below. Others have nil in the attributes that this entity
    /// adds, and nil is like no other value: only a constraint on nothing but inherited properties needs a condition.
    func condition(_ constraint: ResolvedConstraint) -> String? {
        let entity = schema[constraint.declaredIn]
        if entity.index == entity.root || constraint.slots.contains(where: { entity.slots[$0].declaredIn == entity.index }) { return nil }
        return "\"_entity\" IN (\(entity.family.map { String(entityNumbers[$0]) }.joined(separator: ", ")))"
    }

    /// The statement that makes the table of a hierarchy.
    public func createTable(root: EntityIndex) -> String {
        var columns = ["\"_id\" \(dialect.typeName(.int64)) PRIMARY KEY"]
        if schema[root].isHierarchy { columns.append("\"_entity\" \(dialect.typeName(.int16)) NOT NULL") }
        columns.append("\"_version\" \(dialect.typeName(.int64)) NOT NULL")
        columns += schema[root].columns.enumerated().map { index, column in
            "\(SQLText.quoted(self.column(root: root, index))) \(dialect.typeName(column.type))"
        }
        return "CREATE TABLE \(SQLText.quoted(table(root)))(\(columns.joined(separator: ", ")))\(dialect.tableOptions)"
    }

    private func createLink(_ link: Int) -> String { "\(createTable(link: link)); \(createMemberIndex(link))" }

    /// The statement that makes a link table.
    public func createTable(link: Int) -> String {
        let type = dialect.typeName(.int64)
        return """
            CREATE TABLE \(SQLText.quoted(table(link: link)))("owner" \(type) NOT NULL, "rank" \(type) NOT NULL, "member" \(type) NOT NULL, \
            PRIMARY KEY("owner", "member"))\(dialect.linkOptions)
            """
    }

    /// The name of the index by member of a link table.
    public func memberIndex(_ link: Int) -> String { place(names.relation(SQLNames.memberIndex(schema.links[link].name))) }

    /// The statement that makes it.
    public func createMemberIndex(_ link: Int) -> String {
        "CREATE INDEX \(SQLText.quoted(memberIndex(link))) ON \(SQLText.quoted(table(link: link)))(\"member\", \"owner\")"
    }
}
