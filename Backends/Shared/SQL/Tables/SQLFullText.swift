public import PolystoreStorage

/// What an engine has for full-text indexes. The layer's own words are in them, so that a search finds the same everywhere.
public struct SQLFullText: Sendable {
    /// A text column with such an index, by the names that the engine has for them.
    public struct Column: Sendable {
        /// The name of the index.
        public let index: String
        /// The table.
        public let table: String
        /// The column.
        public let name: String
    }

    /// The statements that make an index of all rows of the table, and keep it.
    public var creation: @Sendable (Column) -> String
    /// The statements that remove it.
    public var removal: @Sendable (Column) -> String
    /// Whether the text of a row, whose key and text are given as SQL, is what a search looks for; nil where the index cannot tell.
    public var condition: @Sendable (Column, _ key: SQLText, _ text: SQLText, SearchQuery) -> SQLText?

    /// Full-text indexes from their differences.
    public init(
        creation: @escaping @Sendable (Column) -> String, removal: @escaping @Sendable (Column) -> String,
        condition: @escaping @Sendable (Column, _ key: SQLText, _ text: SQLText, SearchQuery) -> SQLText?
    ) {
        self.creation = creation
        self.removal = removal
        self.condition = condition
    }
}

extension SQLTables {
    /// The column at the end of a path, where it has a full-text index.
    func fullTextColumn(_ path: CheckedPath) -> SQLFullText.Column? {
        guard case .slot(let slot) = path.leaf else { return nil }
        let entity = schema[path.entity]
        return fullTextColumns[entity.root]?[entity.slots[slot].column]
    }
}

extension SQLPredicates {
    /// A search that a full-text index answers; nil where there is none.
    func search(_ path: CheckedPath, _ match: TextMatch, _ needle: String, key: SQLText, text: SQLText) -> SQLText? {
        guard match == .search, let column = tables.fullTextColumn(path), let query = try? SearchQuery(needle) else { return nil }
        return tables.dialect.fullText?.condition(column, key, text, query)
    }
}
