#if SQLite
internal import CSQLite
internal import PolystoreSQL
internal import PolystoreStorage

extension SQLFullText {
    /// The full-text indexes of FTS5 (https://sqlite.org/fts5.html): contentless tables of words that triggers maintain.
    ///
    /// The tables contain Polystore's words, folded and separated by spaces. The tokenizer `ascii` only splits them at the spaces, so that
    /// its own folding has no effect. Nil where the library was built without FTS5.
    static let sqlite: SQLFullText? =
        sqlite3_compileoption_used("ENABLE_FTS5") == 0
        ? nil : SQLFullText(creation: creation, removal: removal, triggers: triggers, condition: condition)

    /// FTS5 cuts tokens longer than 32,768 bytes. Words longer than this limit are left to the evaluator.
    private static let longestWord = 1_000

    @Sendable private static func creation(_ column: Column) -> String {
        let index = SQLText.quoted(column.index), table = SQLText.quoted(column.table), name = SQLText.quoted(column.name)
        let add = "INSERT INTO \(index)(rowid, words) SELECT new.\"_id\", polystore_words(new.\(name)) WHERE new.\(name) IS NOT NULL;"
        // A contentless table requires the deleted content for each deletion.
        let remove = """
            INSERT INTO \(index)(\(index), rowid, words) SELECT 'delete', old."_id", polystore_words(old.\(name)) WHERE old.\(name) IS NOT NULL;
            """
        return """
            CREATE VIRTUAL TABLE \(index) USING fts5(words, content = '', tokenize = 'ascii');
            INSERT INTO \(index)(rowid, words) SELECT "_id", polystore_words(\(name)) FROM \(table) WHERE \(name) IS NOT NULL;
            CREATE TRIGGER \(trigger(column, "insert")) AFTER INSERT ON \(table) BEGIN \(add) END;
            CREATE TRIGGER \(trigger(column, "delete")) AFTER DELETE ON \(table) BEGIN \(remove) END;
            CREATE TRIGGER \(trigger(column, "update")) AFTER UPDATE OF \(name) ON \(table) WHEN old.\(name) IS NOT new.\(name)
            BEGIN \(remove) \(add) END;
            """
    }

    private static func trigger(_ column: Column, _ event: String) -> String { SQLText.quoted("\(column.index).\(event)") }

    @Sendable private static func triggers(_ column: Column) -> [String] {
        ["insert", "delete", "update"].map { "\(column.index).\($0)" }
    }

    @Sendable private static func removal(_ column: Column) -> String {
        let triggers = triggers(column).map { "DROP TRIGGER \(SQLText.quoted($0)); " }.joined()
        return "\(triggers)DROP TABLE \(SQLText.quoted(column.index))"
    }

    @Sendable private static func condition(_ column: Column, _ key: SQLText, _ text: SQLText, _ query: SearchQuery) -> SQLText? {
        let terms = query.groups.joined() + query.excluded
        if terms.contains(where: { $0.words.contains { $0.utf8.count > longestWord } }) { return nil }
        func either(_ terms: [SearchQuery.Term]) -> String { "(\(terms.map(term).joined(separator: " OR ")))" }
        var match = "(\(query.groups.map(either).joined(separator: " AND ")))"
        if !query.excluded.isEmpty { match += " NOT \(either(query.excluded))" }
        let index: SQLText = "\(identifier: column.index)"
        return "\(key) IN (SELECT rowid FROM \(index) WHERE \(index) MATCH \(bind: .string(match), .string))"
    }

    /// Returns a term as an FTS5 expression. Words contain no quotes.
    private static func term(_ term: SearchQuery.Term) -> String {
        "\"\(term.words.joined(separator: " "))\"\(term.isPrefix ? " *" : "")"
    }
}
#endif
