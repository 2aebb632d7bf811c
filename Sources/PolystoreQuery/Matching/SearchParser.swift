/// Parses the text of a `SearchQuery`.
struct SearchParser {
    /// The maximum length of a text. Longer texts are refused before parsing.
    private static let longest = 100_000

    private let text: String
    private let scalars: [Unicode.Scalar]
    private var offset = 0
    private var words = 0
    private var groups: [[SearchQuery.Term]] = []
    private var excluded: [SearchQuery.Term] = []
    /// The position of an OR that waits for its right operand.
    private var pending: Int?
    /// Whether the last element was a term that an OR can follow.
    private var isAfterTerm = false

    init(_ text: String) {
        self.text = text
        scalars = text.utf8.count > Self.longest ? [] : Array(text.unicodeScalars)
    }

    mutating func parse() throws(QueryError) -> (groups: [[SearchQuery.Term]], excluded: [SearchQuery.Term]) {
        if text.utf8.count > Self.longest { throw QueryError(.tooComplex, "a search can have at most \(Self.longest) bytes") }
        while skipSpace() { try next() }
        if let pending { throw error(pending, "a word is expected after OR") }
        if groups.isEmpty { throw QueryError("a search needs at least one word that is not excluded") }
        return (groups, excluded)
    }

    private func error(_ position: Int, _ message: String) -> QueryError {
        QueryError("at character \(position + 1) of the search: \(message)")
    }

    /// Skips white space. Returns whether more text follows.
    private mutating func skipSpace() -> Bool {
        while offset < scalars.count, scalars[offset].properties.isWhitespace { offset += 1 }
        return offset < scalars.count
    }

    private mutating func next() throws(QueryError) {
        let start = offset, isExcluded = scalars[offset] == "-"
        if isExcluded { offset += 1 }
        let isPhrase = offset < scalars.count && scalars[offset] == "\""
        let content = isPhrase ? try phrase() : run()
        if content.elementsEqual("OR".unicodeScalars), !isPhrase, !isExcluded { return try either(start) }
        guard let term = try term(content, start) else {
            // Punctuation between words has no effect, as in a text.
            if !isPhrase, !isExcluded { return }
            throw error(start, isPhrase ? "a word is expected between the quotes" : "a word is expected after -")
        }
        try add(term, isExcluded, start)
    }

    /// Returns the contents of a pair of quotes.
    private mutating func phrase() throws(QueryError) -> ArraySlice<Unicode.Scalar> {
        let start = offset
        offset += 1
        while offset < scalars.count, scalars[offset] != "\"" { offset += 1 }
        if offset == scalars.count { throw error(start, "the quote is not closed") }
        offset += 1
        return scalars[(start + 1)..<(offset - 1)]
    }

    /// Returns a run without spaces and quotes.
    private mutating func run() -> ArraySlice<Unicode.Scalar> {
        let start = offset
        while offset < scalars.count, scalars[offset] != "\"", !scalars[offset].properties.isWhitespace { offset += 1 }
        return scalars[start..<offset]
    }

    /// Returns the words of a content, or nil if it has none.
    private mutating func term(_ content: ArraySlice<Unicode.Scalar>, _ start: Int) throws(QueryError) -> SearchQuery.Term? {
        var content = content
        let isPrefix = content.last == "*"
        if isPrefix { content.removeLast() }
        if content.contains("*") || isPrefix && !(content.last.map { WordScalars.shared.contains($0.value) } ?? false) {
            throw error(start, "* is allowed only directly after the last word of a term")
        }
        var text = String.UnicodeScalarView()
        text.append(contentsOf: content)
        let list = SearchWords(String(text)).list
        words += list.count
        if words > SearchQuery.mostWords { throw QueryError(.tooComplex, "a search can have at most \(SearchQuery.mostWords) words") }
        if list.isEmpty {
            if isPrefix { throw error(start, "a letter or digit is expected before *") }
            return nil
        }
        return SearchQuery.Term(list, isPrefix: isPrefix)
    }

    private mutating func either(_ start: Int) throws(QueryError) {
        if !isAfterTerm || pending != nil { throw error(start, "a word is expected before OR") }
        pending = start
        isAfterTerm = false
    }

    private mutating func add(_ term: SearchQuery.Term, _ isExcluded: Bool, _ start: Int) throws(QueryError) {
        if isExcluded {
            if pending != nil { throw error(start, "- cannot be combined with OR") }
            excluded.append(term)
            isAfterTerm = false
        } else if pending != nil {
            groups[groups.count - 1].append(term)
            pending = nil
            isAfterTerm = true
        } else {
            groups.append([term])
            isAfterTerm = true
        }
    }
}
