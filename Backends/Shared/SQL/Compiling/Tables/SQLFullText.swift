package import PolystoreStorage

/// The full-text indexes of an engine. They contain the words that Polystore itself finds in a text, so that a search returns the same
/// result in every store.
package struct SQLFullText: Sendable {
    /// A text column with a full-text index, by the engine's names.
    package struct Column: Sendable {
        /// The name of the index.
        package let index: String
        /// The table.
        package let table: String
        /// The column.
        package let name: String
    }

    /// Returns the statements that create an index of all rows of the table and keep it up to date.
    package var creation: @Sendable (Column) -> String
    /// Returns the statements that remove the index.
    package var removal: @Sendable (Column) -> String
    /// Returns the names of the triggers that keep the index up to date.
    package var triggers: @Sendable (Column) -> [String]
    /// Returns the condition that a row, whose key and text are given as SQL, matches a search; nil where the index cannot answer it.
    package var condition: @Sendable (Column, _ key: SQLText, _ text: SQLText, SearchQuery) -> SQLText?

    /// Creates a description of an engine's full-text indexes.
    package init(
        creation: @escaping @Sendable (Column) -> String, removal: @escaping @Sendable (Column) -> String,
        triggers: @escaping @Sendable (Column) -> [String] = { _ in [] },
        condition: @escaping @Sendable (Column, _ key: SQLText, _ text: SQLText, SearchQuery) -> SQLText?
    ) {
        self.creation = creation
        self.removal = removal
        self.triggers = triggers
        self.condition = condition
    }
}

extension SQLTables {
    /// Returns the column at the end of a path, if it has a full-text index.
    func fullTextColumn(_ path: CheckedPath) -> SQLFullText.Column? {
        guard case .slot(let slot) = path.leaf else { return nil }
        let entity = schema[path.entity]
        return fullTextColumns[entity.root]?[entity.slots[slot].column]
    }
}

extension SQLPredicates {
    /// Returns the condition of a search that a full-text index answers; nil where there is no such index.
    func search(_ path: CheckedPath, _ match: TextMatch, _ needle: String, key: SQLText, text: SQLText) -> SQLText? {
        guard match == .search, let column = tables.fullTextColumn(path), let query = try? SearchQuery(needle) else { return nil }
        return tables.dialect.fullText?.condition(column, key, text, query)
    }
}
