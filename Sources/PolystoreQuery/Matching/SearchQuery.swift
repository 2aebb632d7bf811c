/// What a search asks of the words of a text.
///
/// | written | asks for |
/// |---|---|
/// | `swift sql` | both words, anywhere |
/// | `sql*` | a word that begins so |
/// | `"object graph"` | the words next to each other; also `object-graph`, and `"object gra*"` |
/// | `-java` | that the word, or `-"the words"`, does not occur |
/// | `swift OR rust` | one of the two; binds tighter than standing side by side |
///
/// Words are those of `SearchWords`: case and diacritics never count, and punctuation only separates.
public struct SearchQuery: Sendable, Hashable, CustomStringConvertible {
    /// Words that follow each other in a text.
    public struct Term: Sendable, Hashable, CustomStringConvertible {
        /// The words, at least one, folded.
        public let words: [String]
        /// Whether the last is only the beginning of a word.
        public let isPrefix: Bool
        private let bytes: [[UInt8]]

        init(_ words: [String], isPrefix: Bool) {
            self.words = words
            self.isPrefix = isPrefix
            bytes = words.map { Array($0.utf8) }
        }

        /// The term in the form of a query.
        public var description: String {
            let text = words.joined(separator: " ") + (isPrefix ? "*" : "")
            return words.count == 1 ? text : "\"\(text)\""
        }

        /// Whether the words follow each other in a text. The time is at most proportional to the product of both lengths.
        func occurs(in text: SearchWords) -> Bool {
            if text.count < bytes.count { return false }
            return (0...(text.count - bytes.count)).contains { start in
                bytes.indices.allSatisfy { index in
                    let word = text[start + index]
                    return isPrefix && index == bytes.count - 1 ? word.starts(with: bytes[index]) : word.elementsEqual(bytes[index])
                }
            }
        }
    }

    /// The most words of a query.
    public static let mostWords = 1_000

    /// Terms of each of which one must occur; at least one list, none of them empty.
    public let groups: [[Term]]
    /// Terms that must not occur.
    public let excluded: [Term]

    /// Reads a query.
    ///
    /// - Throws: `QueryError` saying what is missing; a query asks for one word at least.
    public init(_ text: String) throws(QueryError) {
        var parser = SearchParser(text)
        (groups, excluded) = try parser.parse()
    }

    /// The query with its words folded, which reads as the same query.
    public var description: String {
        (groups.map { $0.map(\.description).joined(separator: " OR ") } + excluded.map { "-\($0)" }).joined(separator: " ")
    }

    /// Whether the words of a text are those that the query asks for.
    public func matches(_ words: SearchWords) -> Bool {
        groups.allSatisfy { $0.contains { $0.occurs(in: words) } } && !excluded.contains { $0.occurs(in: words) }
    }
}
