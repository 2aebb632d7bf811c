internal import PolystoreStorage

/// A line of the prompt.
enum PromptStatement: Equatable {
    case help
    case quit
    case entities
    case describe(String)
    case format(AnswerFormat)
    case sql(String)
    case objects(PromptRequest)
    case count(PromptRequest)
    case explain(PromptRequest)

    /// A word that begins a statement, with its arguments for the help.
    static let commands: [(name: String, arguments: String, meaning: String)] = [
        ("entities", "", "the entities with the numbers of their objects"),
        ("describe", "ENTITY", "the properties of an entity"),
        ("count", "ENTITY [where CONDITION]", "the number of objects"),
        ("explain", "ENTITY [where CONDITION] [order by …]", "how the store answers a request"),
        ("sql", "STATEMENT", "the rows of an SQL statement that changes nothing"),
        ("format", AnswerFormat.allCases.map(\.rawValue).joined(separator: "|"), "the form of the answers"),
        ("help", "", "this text"),
        ("quit", "", "the end, as Control-D"),
    ]

    /// Parses a line; nil for an empty line or a comment.
    ///
    /// - Parameter entities: The entities of the store. A line that begins with one of them is a request, whatever commands are called.
    static func parse(_ line: String, entities: [String]) throws(StorageError) -> PromptStatement? {
        var text = line.trimmingPrefix(while: \.isWhitespace)
        while let last = text.last, last.isWhitespace || last == ";" { text.removeLast() }
        if text.isEmpty || text.hasPrefix("--") || text.hasPrefix("#") { return nil }
        let word = String(text.prefix { !$0.isWhitespace }), rest = String(text.dropFirst(word.count).drop(while: \.isWhitespace))
        if entities.contains(word) { return .objects(try PromptRequest(word, rest)) }
        func request() throws(StorageError) -> PromptRequest {
            let entity = String(rest.prefix { !$0.isWhitespace })
            if entity.isEmpty {
                throw StorageError(.invalidConfiguration, "\(word) needs an entity, as in: \(word) \(entities.first ?? "Person")")
            }
            return try PromptRequest(entity, String(rest.dropFirst(entity.count)))
        }
        func alone(_ statement: PromptStatement) throws(StorageError) -> PromptStatement {
            if rest.isEmpty { return statement }
            throw StorageError(.invalidConfiguration, "\(word) takes no arguments, but got '\(rest.excerpt())'")
        }
        switch word.lowercased() {
        case "help", "?", "\\?", "\\h": return .help
        case "quit", "exit", "\\q": return try alone(.quit)
        case "entities",
            "\\d" where rest.isEmpty:
            return try alone(.entities)
        case "describe", "\\d":
            if rest.isEmpty {
                throw StorageError(.invalidConfiguration, "describe needs an entity, as in: describe \(entities.first ?? "Person")")
            }
            return .describe(rest)
        case "format":
            if let format = AnswerFormat(rawValue: rest.lowercased()) { return .format(format) }
            let names = AnswerFormat.allCases.map(\.rawValue).joined(separator: ", ")
            throw StorageError(.invalidConfiguration, "there is no format '\(rest.excerpt())'; use one of \(names)")
        case "sql", "select", "with", "values":
            let statement = word.lowercased() == "sql" ? rest : String(text)
            if statement.isEmpty { throw StorageError(.invalidConfiguration, "sql needs a statement, as in: sql SELECT 1") }
            return .sql(statement)
        case "count": return .count(try request().onlyCondition("count"))
        case "explain": return .explain(try request().withoutValues("explain"))
        default:
            let suggestion = Suggestion.nearest(word, in: entities + commands.map(\.name))
            let hint = suggestion.isEmpty ? "; enter help for the commands, entities for the entities" : suggestion
            throw StorageError(.invalidConfiguration, "there is no entity or command '\(word.excerpt())'\(hint)")
        }
    }
}
