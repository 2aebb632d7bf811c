internal import PolystoreStorage

/// The completion of a line of the prompt: entities and commands at its beginning, then clauses, and the properties of the entity, along
/// paths too.
struct PromptCompletion {
    private let schema: Schema

    init(_ schema: Schema) { self.schema = schema }

    /// Returns the completions of a text: the number of its last characters that they replace, and the texts, sorted.
    func complete(_ text: String) -> (replaced: Int, texts: [String]) {
        let word = String(text.reversed().prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." || $0 == "@" }.reversed())
        let start = text.dropLast(word.count).drop(while: \.isWhitespace), words = start.split(whereSeparator: \.isWhitespace)
        let entities = schema.entities.map(\.name)
        guard let first = words.first.map(String.init) else {
            return matches(word, entities + PromptStatement.commands.map(\.name), " ")
        }
        if entities.contains(first) { return clauses(word, schema.index(of: first), String(start.dropFirst(first.count))) }
        switch first.lowercased() {
        case "count", "explain":
            guard words.count > 1 else { return matches(word, entities, " ") }
            return clauses(
                word, schema.index(of: String(words[1])), String(start.drop { !$0.isWhitespace }.dropFirst().drop { !$0.isWhitespace }))
        case "describe": return matches(word, words.count == 1 ? entities : [], "")
        case "format": return matches(word, words.count == 1 ? AnswerFormat.allCases.map(\.rawValue) : [], "")
        default: return (0, [])
        }
    }

    /// Returns the completions after an entity.
    private func clauses(_ word: String, _ entity: EntityIndex?, _ text: String) -> (replaced: Int, texts: [String]) {
        guard let entity else { return (0, []) }
        let keywords = PromptRequest.keywords(text), used = Set(keywords.map(\.clause))
        let unused = PromptRequest.Clause.allCases.filter { !used.contains($0) }.map(\.rawValue)
        guard let last = keywords.last else { return matches(word, unused, " ") }
        let content = text[last.range.upperBound...].drop(while: \.isWhitespace)
        switch last.clause {
        case .limit, .offset: return content.isEmpty ? (0, []) : matches(word, unused, " ")
        case .distinct: return matches(word, unused, " ")
        case .select, .where, .groupBy, .having, .orderBy:
            // After a value another clause can follow; after an operator or a comma only a property.
            let isComplete =
                content.last.map { $0.isWhitespace && content.dropLast().last.map { !"=<>!,+-*/(&|".contains($0) } == true } ?? false
            return properties(word, entity, beside: isComplete && !word.contains(".") ? unused.map { $0 + " " } : [])
        }
    }

    /// Returns the properties of the entity at the end of a path.
    private func properties(_ word: String, _ entity: EntityIndex, beside others: [String]) -> (replaced: Int, texts: [String]) {
        var steps = word.split(separator: ".", omittingEmptySubsequences: false).map(String.init), entity = entity
        let last = steps.popLast() ?? ""
        for step in steps {
            guard let relationship = schema[entity].relationship(step) else { return (0, []) }
            entity = relationship.destination
        }
        let names = schema[entity].family.flatMap { member in
            schema[member].slots.map(\.name) + schema[member].relationships.map(\.relationship.name)
        }
        return matches(last, Set(names).sorted(), "", beside: others)
    }

    /// Returns the names that begin with a word. One that a terminal could not show is left out.
    private func matches(_ word: String, _ names: [String], _ suffix: String, beside others: [String] = []) -> (
        replaced: Int, texts: [String]
    ) {
        let found = names.map { $0 + suffix } + others
        let texts = Set(found).filter { text in
            text.lowercased().hasPrefix(word.lowercased()) && !text.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7f }
        }
        return (word.count, texts.sorted())
    }
}
