internal import PolystoreStorage
internal import PolystoreTransfer

/// A request for objects or values as it is typed at the prompt: an entity, followed by clauses in any order.
struct PromptRequest: Equatable {
    /// A clause that follows the entity.
    enum Clause: String, CaseIterable {
        case select
        case `where`
        case groupBy = "group by"
        case having
        case orderBy = "order by"
        case limit
        case offset
        case distinct
    }

    let entity: String
    private(set) var clauses: [Clause: String] = [:]

    /// Parses the clauses that follow an entity.
    ///
    /// A keyword is a whole word outside of quotes, parentheses and braces, in capitals or not.
    init(_ entity: String, _ text: String) throws(StorageError) {
        self.entity = entity
        var clause: Clause?, start = text.startIndex
        func end(_ end: String.Index) throws(StorageError) {
            let content = text[start..<end].trimmed
            guard let clause else {
                if content.isEmpty { return }
                throw StorageError(
                    .invalidConfiguration,
                    "after \(entity) a clause is expected (\(Clause.allCases.map(\.rawValue).joined(separator: ", "))), not '\(content.excerpt())'"
                )
            }
            if content.isEmpty != (clause == .distinct) {
                let message =
                    content.isEmpty
                    ? "\(clause.rawValue) needs a value" : "distinct is followed by another clause, not by '\(content.excerpt())'"
                throw StorageError(.invalidConfiguration, message)
            }
            if clauses.updateValue(content, forKey: clause) != nil {
                throw StorageError(.invalidConfiguration, "\(clause.rawValue) is used twice")
            }
        }
        for keyword in Self.keywords(text) {
            try end(keyword.range.lowerBound)
            (clause, start) = (keyword.clause, keyword.range.upperBound)
        }
        try end(text.endIndex)
    }

    /// Returns the keywords of a text with their places.
    ///
    /// A property can have the name of a clause: a word that follows a keyword, a comma or an operator is one, and so is `limit` or `offset`
    /// without a number.
    static func keywords(_ text: String) -> [(clause: Clause, range: Range<String.Index>)] {
        let all = words(text)
        var found: [(clause: Clause, range: Range<String.Index>)] = []
        for (position, item) in all.enumerated() {
            let before = text[(found.last?.range.upperBound ?? text.startIndex)..<item.range.lowerBound].trimmed
            let isFirst = before.isEmpty && (found.isEmpty || found.last?.clause == .distinct)
            if !isFirst, before.isEmpty || Self.expectsValue(before) { continue }
            let end = position + 1 < all.count ? all[position + 1].range.lowerBound : text.endIndex
            let content = text[item.range.upperBound..<end].trimmed
            if item.clause == .limit || item.clause == .offset, !content.isEmpty, Int(content) == nil { continue }
            found.append(item)
        }
        return found
    }

    /// Returns whether a value has to follow a text, which ends with an operator.
    private static func expectsValue(_ text: String) -> Bool {
        let operators: Set<Substring> = [
            "and", "or", "not", "in", "between", "like", "contains", "beginswith", "endswith", "matches", "any", "all", "none", "as",
        ]
        if let last = text.last, ",=<>!&|+-*/".contains(last) { return true }
        return text.lowercased().split(whereSeparator: \.isWhitespace).last.map(operators.contains) == true
    }

    /// Returns the words of a text that can be keywords.
    private static func words(_ text: String) -> [(clause: Clause, range: Range<String.Index>)] {
        var found: [(clause: Clause, range: Range<String.Index>)] = [], depth = 0, quote: Character?
        var index = text.startIndex, isEscaped = false
        while index < text.endIndex {
            let character = text[index]
            if let open = quote {
                if isEscaped { isEscaped = false } else if character == "\\" { isEscaped = true } else if character == open { quote = nil }
            } else if character == "'" || character == "\"" {
                quote = character
            } else if "({[".contains(character) {
                depth += 1
            } else if ")}]".contains(character) {
                depth -= 1
            } else if depth == 0, index == text.startIndex || text[text.index(before: index)].isWhitespace,
                let match = keyword(text[index...])
            {
                found.append((match.clause, index..<match.end))
                index = match.end
                continue
            }
            index = text.index(after: index)
        }
        return found
    }

    /// Returns the keyword at the beginning of a text, with its end.
    private static func keyword(_ text: Substring) -> (clause: Clause, end: String.Index)? {
        for clause in Clause.allCases {
            var rest = text, isFound = true
            for word in clause.rawValue.split(separator: " ") {
                rest = rest.drop(while: \.isWhitespace)
                guard rest.prefix(word.count).lowercased() == word else {
                    isFound = false
                    break
                }
                rest = rest.dropFirst(word.count)
                if let next = rest.first, !next.isWhitespace {
                    isFound = false
                    break
                }
            }
            if isFound { return (clause, rest.startIndex) }
        }
        return nil
    }

    // MARK: Requests

    /// Whether values are requested, and not objects.
    var isForValues: Bool { clauses[.select] != nil }

    /// Whether the number of rows is limited.
    var isLimited: Bool { clauses[.limit] != nil }

    /// Returns the request for the objects.
    func objects() throws(StorageError) -> ObjectRequest {
        if let clause = [Clause.groupBy, .having, .distinct].first(where: { clauses[$0] != nil }), !isForValues {
            throw StorageError(.invalidConfiguration, "\(clause.rawValue) needs select")
        }
        let predicate = try clauses[.where].map { text throws(StorageError) in
            try parsed(text, .where) { text throws(QueryError) in try QueryPredicate(parsing: text) }
        }
        let order = try clauses[.orderBy].map { text throws(StorageError) in try parsed(text, .orderBy, SelectList.order) } ?? []
        return ObjectRequest(entity, where: predicate, orderBy: order, limit: try number(.limit), offset: try number(.offset) ?? 0)
    }

    /// Returns the request for the selected values.
    func values() throws(StorageError) -> QueryRequest {
        let having = try clauses[.having].map { text throws(StorageError) in
            try parsed(text, .having) { text throws(QueryError) in try QueryPredicate(parsing: text) }
        }
        let groups = try clauses[.groupBy].map { text throws(StorageError) in try parsed(text, .groupBy, SelectList.expressions) } ?? []
        return QueryRequest(
            try objects(), outputs: try parsed(clauses[.select] ?? "", .select, SelectList.outputs), groupBy: groups, having: having,
            isDistinct: clauses[.distinct] != nil)
    }

    /// Returns the request for the number of objects.
    func count() throws(StorageError) -> QueryRequest { QueryRequest(try objects(), outputs: [.aggregate(Aggregate(.count))]) }

    /// Returns the request if it has no other clause than a condition.
    func onlyCondition(_ command: String) throws(StorageError) -> PromptRequest {
        try without(Clause.allCases.filter { $0 != .where }, command)
    }

    /// Returns the request if it is one for objects.
    func withoutValues(_ command: String) throws(StorageError) -> PromptRequest {
        try without([.select, .groupBy, .having, .distinct], command)
    }

    private func without(_ refused: [Clause], _ command: String) throws(StorageError) -> PromptRequest {
        guard let clause = refused.first(where: { clauses[$0] != nil }) else { return self }
        throw StorageError(.invalidConfiguration, "\(command) cannot be combined with \(clause.rawValue)")
    }

    private func number(_ clause: Clause) throws(StorageError) -> Int? {
        guard let text = clauses[clause] else { return nil }
        if let number = Int(text), number >= 0 { return number }
        throw StorageError(.invalidConfiguration, "\(clause.rawValue) needs a number of at least 0, not '\(text.excerpt())'")
    }

    private func parsed<R>(_ text: String, _ clause: Clause, _ parse: (String) throws(QueryError) -> R) throws(StorageError) -> R {
        do throws(QueryError) { return try parse(text) } catch {
            let error = StorageError(error)
            throw StorageError(error.code, "\(clause.rawValue) '\(text.excerpt())': \(error.message)", details: error.details, cause: error)
        }
    }
}

extension Substring {
    fileprivate var trimmed: String {
        var text = drop(while: \.isWhitespace)
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}
