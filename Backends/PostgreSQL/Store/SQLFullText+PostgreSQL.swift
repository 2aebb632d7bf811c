#if PostgreSQL
internal import PolystoreSQL
internal import PolystoreStorage

extension SQLFullText {
    /// The full-text indexes: GIN indexes over the words of a text as lexemes
    /// (https://www.postgresql.org/docs/current/textsearch-indexes.html).
    ///
    /// The server's parsers and dictionaries split and fold texts differently from the contract, so a function of Polystore extracts the
    /// words. The index does not support phrases: its results for them are compared with all words of the text.
    static let postgreSQL = SQLFullText(
        creation: { column in
            let table = SQLText.quoted(column.table), name = SQLText.quoted(column.name)
            return "CREATE INDEX \(SQLText.quoted(column.index)) ON \(table) USING gin (\(PostgreSQLWords.lexemes)(\(name)))"
        },
        removal: { "DROP INDEX \(SQLText.quoted($0.index))" },
        condition: { _, _, text, query in
            let lexemes: SQLText =
                "\(raw: PostgreSQLWords.lexemes)(\(text)) @@ \(bind: .string(PostgreSQLWords.lexemes(of: query)), .string)::tsquery"
            let parts =
                query.groups.map { SQLText.joined($0.map { occurs($0, " > 0") }, " OR ") } + query.excluded.map { occurs($0, " = 0") }
            let words: SQLText = """
                (SELECT (\(SQLText.joined(parts, ") AND ("))) FROM \(raw: PostgreSQLWords.words)(\(text)) AS t(words))
                """
            guard PostgreSQLWords.isExact(query) else { return "(\(lexemes) AND \(words))" }
            return "(\(lexemes) AND (octet_length(\(text)) <= \(raw: String(PostgreSQLWords.longestText)) OR \(words)))"
        })

    /// Returns the condition that the words of a term occur in the words of a text, which have a space before and after each.
    private static func occurs(_ term: SearchQuery.Term, _ sign: String) -> SQLText {
        let wanted = " " + term.words.joined(separator: " ") + (term.isPrefix ? "" : " ")
        return "strpos(t.words, \(bind: .string(wanted), .string))\(raw: sign)"
    }
}
#endif
