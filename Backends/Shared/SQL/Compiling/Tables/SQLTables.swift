package import PolystoreStorage

/// The tables of a schema, with their columns and indexes: one for each hierarchy and one for each link.
package struct SQLTables: Sendable {
    /// The schema.
    package let schema: Schema
    /// The dialect.
    package let dialect: SQLDialect
    /// The `_entity` number of each entity.
    package let entityNumbers: [Int16]
    private let names: SQLNames
    /// The tables, indexes and sequences that have another name during a migration.
    private let moved: [String: String]
    /// The columns that have another name during a migration, by the root of their hierarchy.
    private let movedColumns: [EntityIndex: [Int: String]]
    let partialIndexes: SQLPartialIndexes
    /// The columns with a full-text index, by root and column.
    private(set) var fullTextColumns: [EntityIndex: [Int: SQLFullText.Column]] = [:]

    /// Creates the tables of a schema in a dialect.
    ///
    /// - Parameters:
    ///   - moved: The tables, indexes and sequences that have another name for the time being.
    ///   - movedColumns: The columns that have another name for the time being, by the root of their hierarchy.
    package init(
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

    /// Returns the name of the table of an entity's hierarchy.
    package func table(_ entity: EntityIndex) -> String { place(names.relation(schema.entities[schema[entity].root].name)) }

    /// The names of all tables.
    package var tableNames: [String] { schema.roots.map { table($0) } + schema.links.indices.map { table(link: $0) } }

    /// Returns the name of a link table.
    package func table(link: Int) -> String { place(names.relation(schema.links[link].name)) }

    private func place(_ relation: String) -> String { moved[relation] ?? relation }

    /// Returns the name of the column of a slot.
    package func column(_ entity: EntityIndex, _ slot: Int) -> String {
        let description = schema[entity]
        return column(root: description.root, description.slots[slot].column)
    }

    /// Returns the name of a column of a hierarchy's table.
    package func column(root: EntityIndex, _ column: Int) -> String { movedColumns[root]?[column] ?? names.column(root, column) }

    /// Returns the name of the sequence that generates the keys of a hierarchy, for engines with sequences.
    package func keySequence(_ root: EntityIndex) -> String { place(name("polystore_keys." + schema.entities[root].name)) }

    /// Returns a name of the store's own in the form that the engine accepts.
    package func name(_ text: String) -> String { SQLNames.fitted(text, dialect.names) }

    /// Returns the statements that create all tables.
    package func creation() -> [String] {
        schema.roots.map { createTable(root: $0) } + schema.links.indices.map(createLink)
    }

    /// The number of rows added by a bulk load from which on the statistics of a table are updated.
    package static let analyzedRows = 1000

    /// Returns the statements that create all indexes, including unique ones.
    package func indexCreation() -> [String] { indexes().map(\.creation) }

    /// An index of a table.
    package struct IndexStatement: Sendable {
        /// The root of the hierarchy that the index belongs to.
        package let root: EntityIndex
        /// The name of the index.
        package let name: String
        /// The statements that create the index.
        package let creation: String
        /// The statements that remove the index.
        package let removal: String
        /// The constraint that the index enforces; nil for a plain index.
        package let constraint: ResolvedConstraint?
        /// The indexed columns.
        package let columns: [String]
        /// The terms of the index, in the order of its entries; empty for a full-text index.
        package let keys: [String]
        /// The condition on the rows that the index contains; nil for all rows.
        package let rows: String?
        /// The columns that the condition of the index reads.
        let conditionColumns: [String]
        /// The condition on the rows that a constraint covers; nil for all rows.
        package let condition: String?
        /// Whether the index is a table of its own, which dropping the table does not remove.
        package let isTable: Bool
        /// The names of the triggers that keep the index up to date.
        package let triggers: [String]
    }

    /// Returns whether a name is one that indexes of a model have, or their triggers.
    package static func isIndexName(_ name: String) -> Bool {
        [".index.", ".unique.", ".fullText."].contains { name.contains($0) } || name.hasSuffix(".member")
    }

    /// Returns the unique constraint that an index enforces: of this version, or, while two versions of a model are in use, the
    /// corresponding one of the other.
    package func constraint(ofIndex name: String) -> ResolvedConstraint? {
        let indexes = indexes()
        return (indexes.first { $0.name == name } ?? indexes.first { moved[name] == $0.name })?.constraint
    }

    /// Returns all indexes: those of to-one references, declared indexes and unique constraints.
    package func indexes() -> [IndexStatement] { Self.declaredIndexes(schema).compactMap(index) }

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
                // SQLite appends "_data" and similar suffixes for tables of its own; the name ends with `.words` because no property name
                // does.
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
                constraint: index.constraint, columns: columns, keys: keys(index), rows: rows(index),
                conditionColumns: index.condition.map { SQLPredicates(tables: self).columns($0) } ?? [],
                condition: index.constraint.flatMap(condition), isTable: false, triggers: [])
        case .fullText:
            guard let fullText = dialect.fullText, let slot = index.slots.first else { return nil }
            let column = fullTextColumn(index, slot)
            return IndexStatement(
                root: index.entity.root, name: name, creation: fullText.creation(column), removal: fullText.removal(column),
                constraint: nil, columns: columns, keys: [], rows: nil, conditionColumns: [], condition: nil, isTable: true,
                triggers: fullText.triggers(column))
        }
    }

    private func creation(_ index: DeclaredIndex, _ name: String) -> String {
        let table = SQLText.quoted(table(index.entity.index)), condition = rows(index).map { " WHERE \($0)" } ?? ""
        let unique = index.constraint != nil ? "UNIQUE " : ""
        return "CREATE \(unique)INDEX \(SQLText.quoted(name)) ON \(table)(\(keys(index).joined(separator: ", ")))\(condition)"
    }

    private func keys(_ index: DeclaredIndex) -> [String] {
        let columns = index.slots.map { SQLText.quoted(column(index.entity.index, $0)) }
        return index.constraint != nil ? columns : columns.map(dialect.indexKey) + [SQLText.quoted("_id")]
    }

    private func rows(_ index: DeclaredIndex) -> String? {
        index.constraint.flatMap(condition) ?? index.condition.flatMap(SQLPredicates(tables: self).indexCondition)
    }

    /// Returns the condition on the rows of a hierarchy's table that a unique constraint covers, by their entity; nil where its index can
    /// contain all rows.
    ///
    /// A constraint covers the objects of the entity that declares it and of its subentities. Other objects have nil in the attributes that
    /// this entity adds, and nil equals no other value: only a constraint exclusively on inherited properties needs a condition.
    func condition(_ constraint: ResolvedConstraint) -> String? {
        let entity = schema[constraint.declaredIn]
        if entity.index == entity.root || constraint.slots.contains(where: { entity.slots[$0].declaredIn == entity.index }) { return nil }
        return "\"_entity\" IN (\(entity.family.map { String(entityNumbers[$0]) }.joined(separator: ", ")))"
    }

    /// Returns the statement that creates the table of a hierarchy.
    package func createTable(root: EntityIndex) -> String {
        var columns = ["\"_id\" \(dialect.typeName(.int64)) PRIMARY KEY"]
        if schema[root].isHierarchy { columns.append("\"_entity\" \(dialect.typeName(.int16)) NOT NULL") }
        columns.append("\"_version\" \(dialect.typeName(.int64)) NOT NULL")
        columns += schema[root].columns.enumerated().map { index, column in
            "\(SQLText.quoted(self.column(root: root, index))) \(dialect.typeName(column.type))"
        }
        return "CREATE TABLE \(SQLText.quoted(table(root)))(\(columns.joined(separator: ", ")))\(dialect.tableOptions)"
    }

    private func createLink(_ link: Int) -> String { "\(createTable(link: link)); \(createMemberIndex(link))" }

    /// Returns the statement that creates a link table.
    package func createTable(link: Int) -> String {
        let type = dialect.typeName(.int64)
        return """
            CREATE TABLE \(SQLText.quoted(table(link: link)))("owner" \(type) NOT NULL, "rank" \(type) NOT NULL, "member" \(type) NOT NULL, \
            PRIMARY KEY("owner", "member"))\(dialect.linkOptions)
            """
    }

    /// Returns the name of a link table's index by member.
    package func memberIndex(_ link: Int) -> String { place(names.relation(SQLNames.memberIndex(schema.links[link].name))) }

    /// Returns the statement that creates a link table's index by member.
    package func createMemberIndex(_ link: Int) -> String {
        "CREATE INDEX \(SQLText.quoted(memberIndex(link))) ON \(SQLText.quoted(table(link: link)))(\"member\", \"owner\")"
    }
}

extension SQLTables {
    /// Returns the error for a Polystore statement that names a missing table or column, which only a manual change of the tables can have
    /// removed.
    ///
    /// - Parameter sentence: The engine's message, which names the table or the column but no value.
    package static func changedByHand(_ sentence: String, _ cause: any Error) -> StorageError {
        StorageError(
            .corrupted,
            "the tables do not match the model (\(sentence)): they were changed outside of Polystore; restore the database from a backup",
            cause: cause)
    }
}

extension SQLTables {
    /// Returns the columns of a unique index as SQL, and the condition on the rows that its constraint covers.
    package func constrained(_ index: IndexStatement) -> (columns: String, condition: String) {
        let columns = index.columns.map(SQLText.quoted)
        let conditions = columns.map { "\($0) IS NOT NULL" } + (index.condition.map { [$0] } ?? [])
        return (columns.joined(separator: ", "), conditions.joined(separator: " AND "))
    }

    /// Returns the statement that finds all rows that violate the constraint of an index: the smallest key of each group, and the keys of
    /// its rows, in ascending order.
    ///
    /// - Parameter source: The table as SQL, in a form in which the engine reads its rows instead of an index.
    package func violations(_ index: IndexStatement, in source: String) -> String {
        let (columns, condition) = constrained(index)
        return """
            SELECT "first", "_id" FROM (SELECT "_id", min("_id") OVER w AS "first", count(*) OVER w AS "number" FROM \(source) \
            WHERE \(condition) WINDOW w AS (PARTITION BY \(columns))) AS t WHERE "number" > 1 ORDER BY "first", "_id"
            """
    }
}

extension SQLTables {
    /// Returns the statement of an upsert. It returns the key and, in a hierarchy, the entity number of each row that it wrote, and no row
    /// where the conflicting row belongs to another entity.
    ///
    /// - Parameter rows: The inserted rows, as `VALUES` or `SELECT`: key, version, and the cells of the slots in order.
    package func upsert(_ upsert: RowUpsert, rows: String) -> String {
        let description = schema[upsert.entity], table = SQLText.quoted(table(upsert.entity))
        let names = ["\"_id\"", "\"_version\""] + description.slots.indices.map { SQLText.quoted(column(upsert.entity, $0)) }
        let target = upsert.constraint.slots.map { SQLText.quoted(column(upsert.entity, $0)) }.joined(separator: ", ")
        var assignments = upsert.assigned.map { slot in
            let name = SQLText.quoted(column(upsert.entity, slot))
            return "\(name) = excluded.\(name)"
        }
        assignments.append("\"_version\" = \(table).\"_version\" + 1")
        let numbers = description.family.map { String(entityNumbers[$0]) }.joined(separator: ", ")
        let condition = description.isHierarchy ? " WHERE \(table).\"_entity\" IN (\(numbers))" : ""
        let bound = self.condition(upsert.constraint).map { " WHERE \($0)" } ?? ""
        let hierarchy = description.isHierarchy ? ", \"_entity\"" : ""
        return "INSERT INTO \(table)(\(names.joined(separator: ", "))\(hierarchy)) \(rows) "
            + "ON CONFLICT (\(target))\(bound) DO UPDATE SET \(assignments.joined(separator: ", "))\(condition) RETURNING \"_id\"\(hierarchy)"
    }

    /// Returns the entity with a number in `_entity`.
    package func entity(_ number: Int64) -> EntityIndex? { entityNumbers.firstIndex { Int64($0) == number } }

    /// Returns one row of parameters for `upsert(_:rows:)`.
    package func upsertValues(_ entity: EntityIndex) -> String {
        let description = schema[entity]
        var values = (1...(description.slots.count + 2)).map { "?\($0)" }
        if description.isHierarchy { values.append(String(entityNumbers[entity])) }
        return "VALUES(\(values.joined(separator: ", ")))"
    }
}
