/// A condition on the words of a text.
///
/// | syntax | meaning |
/// |---|---|
/// | `swift sql` | both words, anywhere |
/// | `sql*` | a word with this prefix |
/// | `"object graph"` | the words next to each other; also `object-graph`, and `"object gra*"` |
/// | `-java` | the word, or with `-"the words"` the phrase, does not occur |
/// | `swift OR rust` | one of the two; binds tighter than juxtaposition |
///
/// Words are those of `SearchWords`: case and diacritics are ignored, and punctuation only separates words.
public struct SearchQuery: Sendable, Hashable, CustomStringConvertible {
    /// Consecutive words of a text.
    public struct Term: Sendable, Hashable, CustomStringConvertible {
        /// The words, at least one, folded.
        public let words: [String]
        /// Whether the last word is only a prefix.
        public let isPrefix: Bool
        private let bytes: [[UInt8]]

        init(_ words: [String], isPrefix: Bool) {
            self.words = words
            self.isPrefix = isPrefix
            bytes = words.map { Array($0.utf8) }
        }

        /// The term in the syntax of a query.
        public var description: String {
            let text = words.joined(separator: " ") + (isPrefix ? "*" : "")
            return words.count == 1 ? text : "\"\(text)\""
        }

        /// Returns whether the words occur consecutively in a text. The time is at most proportional to the product of both lengths.
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

    /// The maximum number of words of a query.
    public static let mostWords = 1_000

    /// Groups of terms, of each of which at least one must occur. There is at least one group, and none is empty.
    public let groups: [[Term]]
    /// Terms that must not occur.
    public let excluded: [Term]

    /// Parses a query.
    ///
    /// - Throws: `QueryError` that states what is missing. A query needs at least one word.
    public init(_ text: String) throws(QueryError) {
        var parser = SearchParser(text)
        (groups, excluded) = try parser.parse()
    }

    /// The query with its words folded. Parsing it results in the same query.
    public var description: String {
        (groups.map { $0.map(\.description).joined(separator: " OR ") } + excluded.map { "-\($0)" }).joined(separator: " ")
    }

    /// Returns whether the words of a text satisfy the query.
    package func matches(_ words: SearchWords) -> Bool {
        groups.allSatisfy { $0.contains { $0.occurs(in: words) } } && !excluded.contains { $0.occurs(in: words) }
    }
}
