internal import PolystoreStorage

/// The entity of a table under construction.
struct CatalogDraft {
    let table: CatalogTable
    /// The entity so far.
    var entity: Entity
    /// The names in use.
    var names = CatalogNames()
    /// The property of each column that has become one.
    private(set) var properties: [ExactText: String] = [:]
    /// The SQL expressions of the values, by property name.
    private(set) var values: [String: String] = [:]
    private var joins: [String] = []
    /// The columns by property name, for writing.
    private(set) var written: CatalogWriting

    /// Creates the entity of a table with its attributes.
    ///
    /// - Parameter references: The columns that become relationships.
    init(_ table: CatalogTable, name: String, references: Set<ExactText>) {
        self.table = table
        entity = Entity(name)
        let key = if case .column(let column) = table.key { column } else { "" }
        written = CatalogWriting(name: table.name, source: table.source, key: key)
        for column in table.columns where !references.contains(ExactText(column.name)) && !table.key.isColumn(column.name) {
            let property = names.distinct(column.name)
            properties[ExactText(column.name)] = property
            values[property] = column.value
            written.columns[property] = InPlaceTables.Column(
                column.name, isPlain: column.stored == nil, isRequired: !column.isOptional, stored: column.stored ?? { $0 })
            var attribute = Attribute(property, column.type, isOptional: column.isOptional)
            attribute.rules.maxLength = column.maxLength
            attribute.allowedValues = column.allowedValues.map(Value.string)
            entity.attributes.append(attribute)
        }
    }

    /// Adds a to-one relationship. A column that stores it is not an attribute.
    mutating func add(_ relationship: Relationship, _ key: CatalogForeignKey, to destination: CatalogTable) {
        entity.relationships.append(relationship)
        if key.columns.count == 1, case let column = ExactText(key.columns[0]), properties[column] == nil {
            properties[column] = relationship.name
        }
        let join = CatalogJoin(key, destination, alias: "j\(joins.count + 1)")
        values[relationship.name] = join.key
        if let table = join.table { joins.append(" LEFT JOIN \(table)") }
        written.columns[relationship.name] = key.written(destination, in: table)
    }

    /// Whether another property already uses a column of the reference.
    func isTaken(_ key: CatalogForeignKey) -> Bool { written.columns.values.contains { key.columns.contains($0.name) } }

    /// Adds the rules of the table's check conditions to the attributes. Returns false where rules cannot express a condition completely.
    mutating func applyChecks() -> Bool {
        var positions: [String: Int] = [:], ambiguous: Set<String> = [], folded: Set<Int> = [], isComplete = true
        for (index, attribute) in entity.attributes.enumerated() {
            for (column, property) in properties where property == attribute.name {
                if positions.updateValue(index, forKey: column.text.lowercased()) != nil { ambiguous.insert(column.text.lowercased()) }
                if table.columns.contains(where: { ExactText($0.name) == column && !$0.comparesBytes }) { folded.insert(index) }
            }
        }
        // Names that differ only in their case: the tokens of a condition do not say which column is meant.
        for name in ambiguous { positions[name] = nil }
        for check in table.checks where !check.apply(to: &entity.attributes, columns: positions, folded: folded) { isComplete = false }
        return isComplete
    }

    /// Adds the initial values of attributes, except for those that the rules of the attributes forbid.
    mutating func addDefaults() {
        for column in table.columns {
            guard let value = column.defaultValue, let property = properties[ExactText(column.name)],
                let index = entity.attributes.firstIndex(where: { $0.name == property }),
                let normal = try? entity.attributes[index].normalise(value)
            else { continue }
            entity.attributes[index].defaultValue = normal
        }
    }

    /// Adds the unique constraints. A constraint that contains the row key is redundant and is left out.
    mutating func addConstraints() {
        var seen: Set<Set<String>> = []
        for columns in [table.primaryKey] + table.uniqueKeys where !columns.isEmpty {
            if case .column(let key) = table.key, columns.contains(key) { continue }
            let named = columns.compactMap { properties[ExactText($0)] }
            guard named.count == columns.count, Set(named).count == named.count, seen.insert(Set(named)).inserted else { continue }
            entity.uniqueConstraints.append(UniqueConstraint(named))
        }
    }

    /// Adds the indexes that are not redundant. Every store has one over its constraints, and one over each reference.
    mutating func addIndexes() {
        var known = entity.uniqueConstraints.map(\.properties) + entity.relationships.map { [$0.name] }
        for columns in table.indexes {
            // The row key distinguishes the rows: what follows it in an index orders nothing.
            let named = columns.prefix { !table.key.isColumn($0) }.map { properties[ExactText($0)] }
            let found = named.compactMap { $0 }
            guard !found.isEmpty, found.count == named.count, Set(found).count == found.count, !known.contains(found) else { continue }
            known.append(found)
            entity.indexes.append(Index(found))
        }
    }

    /// The source of the rows.
    var rows: CatalogSource.Rows {
        CatalogSource.Rows(
            source: "\(table.source) AS t\(joins.joined())", key: table.key.expression("t"), columns: values)
    }
}

extension CatalogKey {
    /// Returns the expression of the row key of a table.
    func expression(_ alias: String) -> String {
        switch self {
        case .column(let name): "\(alias).\(SQLText.quoted(name))"
        case .counted(let columns):
            "row_number() OVER (ORDER BY \(columns.map { "\(alias).\(SQLText.quoted($0))" }.joined(separator: ", ")))"
        }
    }
}

extension CatalogForeignKey {
    /// Returns the column of a reference, for writing. It stores the key of the destination row, or the referenced column of that row.
    func written(_ destination: CatalogTable, in table: CatalogTable) -> InPlaceTables.Column {
        let name = columns[0], target = references[0], isRequired = table.columns.first { $0.name == name }.map { !$0.isOptional } ?? true
        guard case .column(let key) = destination.key, key != target else {
            return InPlaceTables.Column(name, isPlain: true, isRequired: isRequired, isKey: table.key == .column(name)) { $0 }
        }
        let start = "(SELECT d.\(SQLText.quoted(target)) FROM \(destination.source) AS d WHERE d.\(SQLText.quoted(key)) = "
        return InPlaceTables.Column(name, isPlain: false, isRequired: isRequired) { "\(start)\($0))" }
    }

    /// Returns the key of the row that a row refers to, as SQL over that row.
    func key(_ destination: CatalogTable) -> @Sendable (String) -> String {
        let name = SQLText.quoted(columns[0]), target = references[0]
        guard case .column(let key) = destination.key, key != target else { return { "\($0).\(name)" } }
        let start = "(SELECT d.\(SQLText.quoted(key)) FROM \(destination.source) AS d WHERE d.\(SQLText.quoted(target)) = "
        return { "\(start)\($0).\(name))" }
    }
}
