import PolystoreQuery
import Testing

/// Words, and the queries that ask for them.
@Suite struct SearchQueryTests {
    @Test(arguments: [
        ("", []), ("  .,! ", []), ("Hello, World!", ["hello", "world"]), ("don't", ["don", "t"]), ("e-mail2", ["e", "mail2"]),
        ("snake_case", ["snake", "case"]), ("Straße", ["strasse"]), ("ÉCOLE école e\u{301}cole", ["ecole", "ecole", "ecole"]),
        ("Ａ１", ["ａ１"]), ("٣ جُمْلَة", ["٣", "جملة"]), ("日本語。東京", ["日本語", "東京"]), ("각", ["\u{1100}\u{1161}\u{11a8}"]),
        ("a😀b", ["a", "b"]), ("\u{301} a", ["a"]), ("x²½", ["x"]), ("ΌΣΟΣ", ["οσοσ"]), ("İ", ["i"]), ("ǅ", ["ǆ"]),
    ]) func aTextHasWords(_ text: String, _ words: [String]) {
        #expect(SearchWords(text).list.map { Array($0.unicodeScalars) } == words.map { Array($0.unicodeScalars) })
    }

    @Test func illFormedBytesDoNotTrap() {
        for bytes: [UInt8] in [
            [0xff], [0xc3], [0x61, 0xe2, 0x82], [0xf4, 0x90, 0x80, 0x80], [0xf8, 0x88, 0x80, 0x80, 0x80], [0x80, 0x61],
        ] {
            _ = bytes.withUnsafeBytes { SearchWords(utf8: $0) }
        }
    }

    @Test(arguments: [
        ("swift sql", "swift sql"), ("  Swift   SQL! ", "swift sql"), ("sql*", "sql*"), ("\"Object graph\"", "\"object graph\""),
        ("object-graph", "\"object graph\""), ("\"object gra*\"", "\"object gra*\""), ("swift -java", "swift -java"),
        ("-\"a b\" c", "c -\"a b\""), ("swift OR rust", "swift OR rust"), ("a OR b OR c d", "a OR b OR c d"), ("a or b", "a or b"),
        ("\"OR\" a", "or a"), ("a & b", "a b"), ("a\"b c\"d", "a \"b c\" d"), ("Café*", "cafe*"), ("a -- b", "a b"),
    ]) func aQueryReadsAndPrints(_ text: String, _ printed: String) throws {
        let query = try? SearchQuery(text)
        if text == "a -- b" { return #expect(query == nil) }
        #expect(query?.description == printed)
        #expect(try SearchQuery(printed) == query)
    }

    @Test(arguments: [
        ("", "at least one word"), ("-a", "at least one word"), ("...", "at least one word"), ("\"a", "quote is not closed"),
        ("a \"\"", "between the quotes"), ("a -", "after -"), ("a*b", "directly after"), ("a *", "directly after"),
        ("OR a", "before OR"), ("a OR", "after OR"), ("a OR OR b", "before OR"), ("a OR -b", "combined with OR"),
        ("a -b OR c", "before OR"),
    ]) func errorsOfQueriesNameTheReason(_ text: String, _ message: String) {
        #expect { try SearchQuery(text) } throws: { ($0 as? QueryError)?.message.contains(message) == true }
    }

    @Test func hugeQueriesAreTooComplex() {
        for text in [String(repeating: "a ", count: 1_001), String(repeating: "a", count: 100_001), String(repeating: "a-", count: 1_001)] {
            #expect { try SearchQuery(text) } throws: { ($0 as? QueryError)?.reason == .tooComplex }
        }
        #expect(throws: Never.self) { try SearchQuery(String(repeating: "a OR ", count: 999) + "a") }
    }

    @Test(arguments: [
        ("ab", "ab abc", true), ("ab", "abc", false), ("ab*", "xab", false), ("a b", "b x a", true), ("\"a b\"", "b a a b", true),
        ("\"a b\"", "a x b", false), ("\"a b*\"", "a bc", true), ("\"a b*\"", "ab", false), ("a -b", "a", true), ("a -b", "a b", false),
        ("a -\"b c\"", "a c b", true), ("a OR b c", "b c", true), ("a OR b c", "a b", false), ("a.b", "A-B", true), ("a -b*", "a xb", true),
    ]) func queriesMatchTheExpectedTexts(_ query: String, _ text: String, _ expected: Bool) throws {
        #expect(try SearchQuery(query).matches(SearchWords(text)) == expected)
    }
}
