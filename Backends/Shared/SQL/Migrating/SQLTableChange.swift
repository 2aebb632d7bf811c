internal import PolystoreStorage

/// The in-place change of a hierarchy's table to the next version, by statements that touch no more rows than necessary.
struct SQLTableChange {
    /// The hierarchy in the older version.
    let origin: EntityIndex
    /// The statements, which run after the table has its new name and before the indexes are created.
    let statements: [String]
    /// The columns of the older table whose type or contents change, so that indexes over them have to be created again.
    let touched: Set<String>

    /// Creates the change of a hierarchy of the newer version, or nil where its rows have to be written from scratch.
    init?(_ root: EntityIndex, _ mapping: SchemaMapping, _ old: SQLTables, _ new: SQLTables) {
        let origins = mapping.origins(ofRoot: root)
        guard origins.count == 1, let origin = origins.first else { return nil }
        let family = old.schema[origin].family.filter { !old.schema[$0].isAbstract }
        let parts = family.flatMap { mapping.mappings(of: $0) }
        // Each object goes to a single entity, and all of them to this table.
        guard Set(parts.map(\.source)).count == parts.count, parts.allSatisfy({ new.schema[$0.destination].root == root }) else {
            return nil
        }
        var builder = Builder(root: root, origin: origin, parts: parts, old: old, new: new)
        guard builder.columns() else { return nil }
        builder.entities(family)
        self.origin = origin
        statements = builder.statements
        touched = builder.touched
    }
}

/// A collector of the statements of a change.
private struct Builder {
    let root: EntityIndex
    let origin: EntityIndex
    let parts: [EntityMapping]
    let old: SQLTables
    let new: SQLTables
    private(set) var statements: [String] = []
    private(set) var touched: Set<String> = []

    init(root: EntityIndex, origin: EntityIndex, parts: [EntityMapping], old: SQLTables, new: SQLTables) {
        self.root = root
        self.origin = origin
        self.parts = parts
        self.old = old
        self.new = new
    }

    private var table: String { SQLText.quoted(new.table(root)) }
    private var dialect: SQLDialect { new.dialect }

    /// The source of a column of the newer table.
    private enum Source {
        case column(Int, type: String)
        case constant(String?)
    }

    private struct Fill {
        let column: Int
        let entities: [EntityIndex]
        let constant: String
    }

    /// Adds the changes of the columns. Returns false where they cannot be changed in place.
    mutating func columns() -> Bool {
        let after = new.schema[root].columns, before = old.schema[origin].columns
        var sources: [Source] = [], fills: [Fill] = []
        for column in after.indices {
            guard let source = source(column, &fills) else { return false }
            sources.append(source)
        }
        let kept = sources.compactMap { if case .column(let column, _) = $0 { column } else { nil } }
        guard Set(kept).count == kept.count else { return false }
        for column in before.indices where !kept.contains(column) { drop(old.column(root: origin, column)) }
        rename(sources)
        for (column, source) in sources.enumerated() { make(column, source) }
        for fill in fills {
            // A violation of a constraint by the values is reported with their keys when the index of the constraint is created.
            if case .column(let before, _) = sources[fill.column] { touched.insert(old.column(root: origin, before)) }
            let name = SQLText.quoted(new.column(root: root, fill.column))
            statements.append("UPDATE \(table) SET \(name) = \(fill.constant) WHERE \(name) IS NULL\(isEntity(fill.entities))")
        }
        return true
    }

    private func source(_ column: Int, _ fills: inout [Fill]) -> Source? {
        let type = new.schema[root].columns[column].type
        var origins: Set<Int> = [], constants: [Value: [EntityIndex]] = [:], ifNil: [Value: [EntityIndex]] = [:]
        for part in parts {
            guard let slot = new.schema[part.destination].slots.firstIndex(where: { $0.column == column }) else { continue }
            switch part.slots[slot] {
            case .value(let value): constants[value, default: []].append(part.source)
            case .slot(let position, let value):
                origins.insert(old.schema[part.source].slots[position].column)
                if !value.isNull { ifNil[value, default: []].append(part.source) }
            }
        }
        for (value, entities) in ifNil {
            guard let constant = dialect.constant(value, type) else { return nil }
            fills.append(Fill(column: column, entities: entities, constant: constant))
        }
        if origins.isEmpty { return constantSource(column, type, constants, &fills) }
        guard origins.count == 1, constants.isEmpty, let origin = origins.first else { return nil }
        let before = old.schema[self.origin].columns[origin].type
        return before == type ? .column(origin, type: "") : dialect.convertsColumn(before, type).map { .column(origin, type: $0) }
    }

    private func constantSource(
        _ column: Int, _ type: ValueType, _ constants: [Value: [EntityIndex]], _ fills: inout [Fill]
    ) -> Source? {
        let values = constants.filter { !$0.key.isNull }
        if values.isEmpty { return .constant(nil) }
        // A single value for all rows is the default of the column, which changes no row; values of some rows are written to those rows.
        if constants.count == 1, constants.first?.value.count == parts.count, let value = values.first?.key {
            return dialect.constant(value, type).map { .constant($0) }
        }
        for (value, entities) in values {
            guard let constant = dialect.constant(value, type) else { return nil }
            fills.append(Fill(column: column, entities: entities, constant: constant))
        }
        return .constant(nil)
    }

    private mutating func drop(_ column: String) {
        touched.insert(column)
        statements.append("ALTER TABLE \(table) DROP COLUMN \(SQLText.quoted(column))")
    }

    /// Columns are renamed by way of a temporary name, because they may swap names.
    private mutating func rename(_ sources: [Source]) {
        var last: [String] = []
        for (column, source) in sources.enumerated() {
            guard case .column(let before, _) = source else { continue }
            let from = old.column(root: origin, before), to = new.column(root: root, column)
            if from == to { continue }
            touched.insert(from)
            let between = SQLText.quoted("polystore_\(column)")
            statements.append("ALTER TABLE \(table) RENAME COLUMN \(SQLText.quoted(from)) TO \(between)")
            last.append("ALTER TABLE \(table) RENAME COLUMN \(between) TO \(SQLText.quoted(to))")
        }
        statements += last
    }

    private mutating func make(_ column: Int, _ source: Source) {
        let name = SQLText.quoted(new.column(root: root, column))
        switch source {
        case .column(_, let type):
            if type.isEmpty { return }
            let origin = if case .column(let before, _) = source { old.column(root: origin, before) } else { "" }
            touched.insert(origin)
            statements.append("ALTER TABLE \(table) ALTER COLUMN \(name) TYPE \(type)")
        case .constant(let constant):
            let type = dialect.typeName(new.schema[root].columns[column].type)
            let value = constant.map { " DEFAULT \($0)" } ?? ""
            statements.append("ALTER TABLE \(table) ADD COLUMN \(name) \(type)\(value)")
            if constant != nil, dialect.dropsDefaults { statements.append("ALTER TABLE \(table) ALTER COLUMN \(name) DROP DEFAULT") }
        }
    }

    // MARK: The entity of a row

    private func isEntity(_ entities: [EntityIndex]) -> String {
        guard new.schema[root].isHierarchy else { return "" }
        let numbers = entities.compactMap { entity in parts.first { $0.source == entity } }.map {
            String(new.entityNumbers[$0.destination])
        }
        return " AND \"_entity\" IN (\(Set(numbers).sorted().joined(separator: ", ")))"
    }

    /// Adds the changes to rows of removed entities, and to the entity numbers of the rows that remain.
    ///
    /// The numbers are set before any other statement uses them, so these statements come first.
    mutating func entities(_ family: [EntityIndex]) {
        var first: [String] = []
        let wasHierarchy = old.schema[origin].isHierarchy, isHierarchy = new.schema[root].isHierarchy
        let gone = family.filter { entity in !parts.contains { $0.source == entity } }
        if !gone.isEmpty {
            let numbers = gone.map { String(old.entityNumbers[$0]) }.joined(separator: ", ")
            first.append("DELETE FROM \(table)\(wasHierarchy ? " WHERE \"_entity\" IN (\(numbers))" : "")")
        }
        let type = dialect.typeName(.int16)
        if !wasHierarchy, isHierarchy, let part = parts.first {
            first.append("ALTER TABLE \(table) ADD COLUMN \"_entity\" \(type) NOT NULL DEFAULT \(new.entityNumbers[part.destination])")
        } else if wasHierarchy, !isHierarchy {
            first.append("ALTER TABLE \(table) DROP COLUMN \"_entity\"")
        } else if isHierarchy {
            let changed = parts.filter { old.entityNumbers[$0.source] != new.entityNumbers[$0.destination] }
            let cases = changed.map { "WHEN \(old.entityNumbers[$0.source]) THEN \(new.entityNumbers[$0.destination])" }
            if !cases.isEmpty {
                first.append("UPDATE \(table) SET \"_entity\" = CASE \"_entity\" \(cases.joined(separator: " ")) ELSE \"_entity\" END")
            }
        }
        statements = first + statements
    }
}
