package import PolystoreStorage

/// A statement of the program in a dialect, with its names resolved and its kind checked as far as the text shows it.
package struct RawStatement: Sendable {
    /// The purpose of a statement.
    private enum Purpose {
        case query, change
    }

    /// The text.
    package let sql: String
    /// The values, in the order of the placeholders.
    package let bindings: [SQLBinding]

    /// Whether the statement is a query that locks rows, such as `SELECT … FOR UPDATE SKIP LOCKED`. A query that begins with WITH could also
    /// change rows, and is none.
    package let locksRows: Bool

    /// The greatest key that a statement can choose of which the counters of keys take notice. A greater one would leave no keys.
    package static let greatestFollowedKey: Int64 = 1 << 62

    /// Returns the tables to which the statement may add rows, or in which it may change keys. A text or a name that contains a verb is
    /// mistaken for one.
    ///
    /// - Parameter tables: The names of tables.
    package func tablesWithChosenKeys(_ tables: [String]) -> [String] {
        let text = sql.lowercased()
        let adds = ["insert", "replace", "merge"].contains { text.contains($0) }
        if !adds {
            // SQLite has further names for the key.
            if !["_id", "rowid", "oid"].contains(where: text.contains) { return [] }
            // An assignment of the key follows SET or another one; a comparison does not. Comments may be between the words.
            let assignment = #/(?:\bset\b|,)\s*\(?\s*["'`\[]?(?:_id|rowid|_rowid_|oid)["'`\]]?\s*[=,)]/#
            let hasComments = text.contains("/*") || text.contains("--")
            if !hasComments, text.firstMatch(of: assignment) == nil { return [] }
        }
        return tables.filter { text.contains($0.lowercased()) }
    }

    private static let queries: Set<String> = ["SELECT", "WITH", "VALUES", "TABLE", "EXPLAIN"]
    private static let changes: Set<String> = ["INSERT", "UPDATE", "DELETE", "MERGE", "REPLACE", "WITH"]
    /// PostgreSQL accepts 65,535 values, SQLite 32,766.
    private static let mostBindings = 30_000

    /// Creates a statement that must not change anything.
    ///
    /// - Throws: `readOnly` if it would change something, `invalidPredicate` for any other statement that is not a query.
    package init(query sql: RawSQL, _ tables: SQLTables) throws(StorageError) { try self.init(sql, tables, .query) }

    /// Creates a statement that changes rows.
    ///
    /// - Throws: `invalidPredicate` for anything else.
    package init(change sql: RawSQL, _ tables: SQLTables) throws(StorageError) { try self.init(sql, tables, .change) }

    private init(_ sql: RawSQL, _ tables: SQLTables, _ purpose: Purpose) throws(StorageError) {
        var text: SQLText = ""
        for segment in sql.segments { text += try tables.text(of: segment) }
        (self.sql, bindings) = text.rendered(tables.dialect)
        if bindings.count > Self.mostBindings {
            throw StorageError(.limitExceeded, "a statement can have at most \(Self.mostBindings) values; this one has \(bindings.count)")
        }
        if self.sql.utf8.contains(0) { throw StorageError(.invalidPredicate, "SQL cannot contain U+0000") }
        let verb = Self.verb(of: self.sql)
        try Self.check(verb, purpose)
        locksRows =
            verb == "SELECT" && self.sql.firstMatch(of: #/\bFOR\s+(NO\s+KEY\s+UPDATE|UPDATE|KEY\s+SHARE|SHARE)\b/#.ignoresCase()) != nil
    }

    /// Returns the position at which the engine failed to parse the text and the text that follows it, for people to read.
    ///
    /// - Parameter offset: The number of characters (Unicode scalars) before the position; nil where the engine does not report it.
    package func place(_ offset: Int?) -> String {
        guard let offset, offset >= 0 else { return "" }
        let rest = String(String.UnicodeScalarView(sql.unicodeScalars.dropFirst(offset).prefix(30)))
        return " (at character \(offset + 1)\(rest.isEmpty ? ", the end" : ": \(rest)"))"
    }

    /// Checks a statement against a list of allowed verbs, because the list of all verbs is long and grows with the engines.
    private static func check(_ verb: String, _ purpose: Purpose) throws(StorageError) {
        switch purpose {
        case .query where queries.contains(verb): return
        case .change where changes.contains(verb): return
        case .query where changes.contains(verb):
            throw StorageError(
                .readOnly, "\(verb) changes rows, which a query cannot do; use execute or executeReturning in a write transaction")
        case .change where queries.contains(verb):
            throw StorageError(.invalidPredicate, "\(verb) changes no rows; use queryRows")
        case .query, .change:
            throw StorageError(
                .invalidPredicate,
                verb.isEmpty
                    ? "the SQL contains no statement"
                    : "\(verb) statements are not supported: queries begin with \(queries.sorted().joined(separator: ", ")), changes "
                        + "of rows with \(changes.sorted().joined(separator: ", ")); begin transactions with perform and read")
        }
    }

    /// Returns the first word in upper case, after comments and parentheses.
    private static func verb(of sql: String) -> String {
        var rest = Substring(sql)
        while let first = rest.unicodeScalars.first {
            if rest.utf8.starts(with: "--".utf8) {
                rest = rest.drop { !$0.isNewline }
            } else if rest.utf8.starts(with: "/*".utf8) {
                rest = afterComment(rest)
            } else if first.properties.isWhitespace || first == "(" {
                rest.unicodeScalars.removeFirst()
            } else {
                break
            }
        }
        // A character that begins no word is returned by itself.
        let word = rest.unicodeScalars.prefix { $0.properties.isAlphabetic || $0 == "_" }
        return word.isEmpty ? String(rest.prefix(1)) : String(String.UnicodeScalarView(word.prefix(40))).uppercased()
    }

    /// Skips a comment. Comments nest in PostgreSQL. Where they do not nest, the engine itself is asked for the effect of a statement.
    private static func afterComment(_ text: Substring) -> Substring {
        var depth = 0, rest = text.utf8
        while !rest.isEmpty {
            if rest.starts(with: "/*".utf8) {
                depth += 1
                rest = rest.dropFirst(2)
            } else if rest.starts(with: "*/".utf8) {
                depth -= 1
                rest = rest.dropFirst(2)
                if depth == 0 { break }
            } else {
                rest = rest.dropFirst()
            }
        }
        return Substring(rest)
    }
}

extension SQLTables {
    /// Returns a segment of a statement of the program, with the engine's names of tables and columns.
    fileprivate func text(of segment: RawSQL.Segment) throws(StorageError) -> SQLText {
        switch segment {
        case .text(let text): return "\(raw: text)"
        case .binding(let value, let type): return "\(bind: value, type)"
        case .table(let name): return "\(identifier: table(try entity(named: name).index))"
        case .column(let name, let property):
            let entity = try entity(named: name)
            guard let slot = entity.slot(property) else { throw Self.unknown(property, in: entity) }
            return "\(identifier: column(entity.index, slot))"
        case .key: return "\(identifier: "_id")"
        case .links(let name, let property):
            let entity = try entity(named: name)
            switch entity.relationship(property)?.place {
            case .link(let link, _), .orderedInverseSlot(_, let link): return "\(identifier: table(link: link))"
            case .slot, .inverseSlot:
                throw StorageError(
                    .invalidPredicate, "\(name).\(property) has no table; its pairs are stored in the column of its to-one inverse",
                    details: .init(entity: name, property: property))
            case nil: throw Self.unknown(property, in: entity)
            }
        case .refused(let error): throw error
        }
    }

    private func entity(named name: String) throws(StorageError) -> EntityDescription {
        if let index = schema.index(of: name) { return schema[index] }
        throw StorageError(
            .invalidPredicate, "the model has no entity \"\(name)\"\(Suggestion.nearest(name, in: schema.entities.map(\.name)))",
            details: .init(entity: name))
    }

    private static func unknown(_ property: String, in entity: EntityDescription) -> StorageError {
        let names = entity.slots.map(\.name) + entity.relationships.map(\.relationship.name)
        return StorageError(
            .invalidPredicate,
            "\(entity.name) has no column or table for a property \"\(property)\"\(Suggestion.nearest(property, in: names))",
            details: .init(entity: entity.name, property: property))
    }
}
