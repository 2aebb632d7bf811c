import PolystoreQuery
import Testing

/// Expected answers are those of NSRegularExpression's documentation and of Python's `re.fullmatch`.
@Suite struct PatternTests {
    /// With a type of their own: inferring it takes the compiler seconds.
    private static let examples: [(pattern: String, text: String, matches: Bool)] = [
        ("abc", "abc", true), ("abc", "ab", false), ("abc", "abcd", false), ("", "", true), ("", "a", false),
        ("a*", "", true), ("a*", "aaaa", true), ("a*", "aab", false), ("a+", "", false), ("a+b?", "aab", true),
        ("(ab|cd)+", "abcdab", true), ("(ab|cd)+", "abc", false), ("a|", "", true), ("(a|b)*c", "abbac", true),
        ("[a-c]{2}", "ab", true), ("[a-c]{2}", "abc", false), ("[a-c]{2,}", "abcabc", true), ("x{0,2}", "xx", true),
        ("x{0,2}", "xxx", false), ("[^0-9]+", "abc", true), ("[^0-9]+", "a1", false), ("\\d{4}-\\d{2}", "2026-11", true),
        ("\\w+@\\w+\\.\\w+", "ann@example.org", true), ("\\W", "-", true), ("\\s", "\t", true), ("\\S+", "a b", false),
        (".", "é", true), (".", "e\u{301}", false), ("[é-ü]+", "êü", true), ("^a$", "a", true), ("a^b", "ab", false),
        ("[]a]+", "]a]", true), ("[a\\]b]+", "]ab", true), ("[-a]+", "a-", true), ("(?:ab)+", "abab", true), ("\\.", ".", true),
        ("\\.", "x", false), ("[\\d.]+", "1.5", true), ("((a))", "a", true), ("(|a)b", "b", true), ("a{3}", "aaa", true),
        ("a*?b", "aab", true), ("a+?", "aa", true), ("a+?", "", false), ("a{2}?", "", false), ("a{2,3}?b?", "aaab", true),
        ("a??", "", true), ("[a\\--]+", "a-", true), ("[+\\--/]", ".", true), ("[A-\\[]", "Z", true),
        ("(a+)+", "aa", true), ("[a&]+", "&a&", true), ("[\\[a]", "[", true),
        ("[a&-]+", "&-a", true), ("[a\\&-z]", "b", true),
    ]

    @Test(arguments: examples)
    func matches(_ pattern: String, _ text: String, _ expected: Bool) throws {
        #expect(try Pattern(pattern).matches(text) == expected)
    }

    @Test(arguments: [
        "(", ")", "a)", "[", "[a", "a{", "a{2", "a{3,2}", "*a", "+", "\\", "\\q", "[b-a]", "(?=a)", "a{5000}", "a*+", "a?+b", "a{2}+",
        "[[:alpha:]]", "[a[b]]", "[a&&b]", "[\\w--_]", "[a-z--b]", "[+--/]",
        "[--a]", "[A-[b]]", "a+?+", "[a&-z]", "[&-a]", "[^&-&]",
    ])
    func illFormedPatternsSayWhere(_ pattern: String) {
        #expect { try Pattern(pattern) } throws: { ($0 as? QueryError)?.message.contains("the pattern has") == true }
    }

    @Test func hugePatternsAreTooComplex() {
        let deep = String(repeating: "(", count: 200) + "a" + String(repeating: ")", count: 200)
        #expect { try Pattern(deep) } throws: { ($0 as? QueryError)?.reason == .tooComplex }
        #expect { try Pattern("(((a{1000}){1000}){1000})") } throws: { ($0 as? QueryError)?.reason == .tooComplex }
    }

    @Test func longPatternsAreCompiled() throws {
        let branches = Array(repeating: "a", count: 3000).joined(separator: "|")
        #expect(try Pattern(branches).matches("a"))
        #expect(try Pattern("a" + String(repeating: "*", count: 100)).matches("aaa"))
        #expect { try Pattern("a" + String(repeating: "*", count: 5000)) } throws: { ($0 as? QueryError)?.reason == .tooComplex }
        #expect { try Pattern(branches + "|" + branches) } throws: { ($0 as? QueryError)?.reason == .tooComplex }
    }

    @Test func nothingIsRepeatedAtOnce() throws {
        var pattern = ""
        for _ in 0..<50 { pattern = "(?:\(pattern)){1000}" }
        #expect(try Pattern(pattern).matches(""))
        #expect(try Pattern(pattern + "a").matches("a"))
    }

    /// A matcher that tries one way after the other would take 2^30 steps for each of these.
    @Test func noPatternIsSlow() throws {
        let text = String(repeating: "a", count: 30)
        #expect(try Pattern("(a*)*b").matches(text) == false)
        #expect(try Pattern("(a|a)*b").matches(text) == false)
        #expect(try Pattern(String(repeating: "a?", count: 30) + String(repeating: "a", count: 30)).matches(text))
    }
}
