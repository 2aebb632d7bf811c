public import PolystoreStorage

/// The tables of another program as they are written where they lie.
public struct InPlaceTables: Sendable {
    /// A column that keeps an attribute or a reference.
    public struct Column: Sendable {
        /// The name.
        public let name: String
        /// A value of ours, as SQL, in the form that the column keeps. What has no such form must fail.
        public let stored: @Sendable (String) -> String
        /// Whether the form is our own, so that equal values are equal there.
        public let isPlain: Bool
        /// Whether the table demands a value.
        public let isRequired: Bool
        /// Whether it is the primary key, which is given once and not changed.
        public let isKey: Bool

        /// A column.
        public init(
            _ name: String, isPlain: Bool, isRequired: Bool, isKey: Bool = false, stored: @escaping @Sendable (String) -> String
        ) {
            self.name = name
            self.stored = stored
            self.isPlain = isPlain
            self.isRequired = isRequired
            self.isKey = isKey
        }
    }

    /// A table whose rows are objects.
    public struct Table: Sendable {
        /// The name.
        public let name: String
        /// The table as SQL names it, with its schema.
        public let source: String
        /// The primary key.
        public let key: String
        /// The column of each slot.
        public let columns: [Column]

        /// The table as an insertion names it: where rows go has no ONLY.
        public var target: String { source.hasPrefix("ONLY ") ? String(source.dropFirst(5)) : source }

        /// The slots of columns by their names.
        public var slots: [String: Int] { Dictionary(columns.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first }) }
    }

    /// A table whose rows are the pairs of a relationship.
    public struct Pairs: Sendable {
        /// The name.
        public let name: String
        /// The table as SQL names it, with its schema.
        public let source: String
        /// The table as an insertion names it.
        public var target: String { source.hasPrefix("ONLY ") ? String(source.dropFirst(5)) : source }
        /// What refers to the owner, and what to the member.
        public let owner: Column, member: Column
        /// The owner's key, as SQL over a row of the table.
        public let ownerKey: @Sendable (String) -> String
    }

    /// The schema.
    public let schema: Schema
    /// The table of each entity.
    public let tables: [Table]
    /// The table of each link.
    public let pairs: [Pairs]
    /// The entities, those that are referred to before those that refer to them, as far as there are no circles.
    public let order: [EntityIndex]

    /// The tables of a database whose catalog was read for writing.
    public init(_ source: CatalogSource) {
        schema = source.schema
        tables = schema.descriptions.map { entity in
            let written = source.written[entity.name]
            return Table(
                name: written?.name ?? "", source: written?.source ?? "", key: written?.key ?? "",
                columns: entity.slots.map { written?.columns[$0.name] ?? Column("", isPlain: true, isRequired: false) { $0 } })
        }
        pairs = schema.links.compactMap { source.pairs[$0.name] }
        order = Self.order(schema)
    }

    /// The assignment of a new value of ours, given as SQL, to the column of a slot.
    ///
    /// What is required has a value at the end of a transaction, or its object is deleted; between, a column that must have one keeps the old.
    public func assignment(_ entity: EntityIndex, _ slot: Int, _ value: String) -> String {
        let column = tables[entity].columns[slot], name = SQLText.quoted(column.name), stored = column.stored(value)
        let isRequired =
            switch schema[entity].slots[slot].content {
            case .attribute(let attribute): !attribute.isOptional
            case .toOne(let relationship, _): !relationship.isOptional
            }
        return column.isRequired && isRequired ? "\(name) = coalesce(\(stored), t.\(name))" : "\(name) = \(stored)"
    }

    private static func order(_ schema: Schema) -> [EntityIndex] {
        var result: [EntityIndex] = [], rest = Set(schema.descriptions.indices)
        while let first = rest.min() {
            var free: Set<EntityIndex> = []
            for entity in rest {
                let targets = schema[entity].slots.compactMap(\.destination)
                if targets.allSatisfy({ $0 == entity || !rest.contains($0) }) { free.insert(entity) }
            }
            // In a circle somebody has to begin.
            if free.isEmpty { free.insert(first) }
            result += free.sorted()
            rest.subtract(free)
        }
        return result
    }

    /// Refuses a reference that is the primary key and says something else than the key.
    package func checkKey(_ entity: EntityIndex, _ slot: Int, _ row: borrowing RowView) throws(StorageError) {
        if row[slot].kind == .int, row[slot].int == row.key { return }
        let description = schema[entity], property = description.slots[slot].name
        throw StorageError(
            .unsupported,
            "the key of \(description.name) is that of its \(property), and keys of new objects are given by the store: add such rows with the "
                + "database's own program; all else of them can be changed",
            details: .init(entity: description.name, property: property))
    }

    /// The entity whose table has a name.
    public func entity(ofTable name: String) -> EntityIndex? { tables.firstIndex { $0.name == name } }

    /// The name that people know a column by.
    public func property(_ entity: EntityIndex, column: String) -> String? {
        tables[entity].columns.firstIndex { $0.name == column }.map { schema[entity].slots[$0].name }
    }
}

/// How objects of a table are written where they lie, before the slots of its entity are known.
public struct CatalogWriting: Sendable {
    let name: String
    let source: String
    let key: String
    var columns: [String: InPlaceTables.Column] = [:]
}
