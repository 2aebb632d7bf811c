internal import Foundation
internal import PolystoreStorage

/// The facts of group P about searches for words. The fixture's texts are `apple`, `Banana`, nil, the empty text, `50%_off\x`, `café`
/// composed and decomposed, and `apple pie`.
enum SearchFacts {
    typealias Fact = PredicateCases.Fact

    private static func fact(_ id: String, _ keys: [Int64], _ query: String) -> Fact {
        Fact("P041.\(id)", keys) { .text(.path(PropertyPath($0 + "text")), .search, query) }
    }

    static let all = [
        fact("a-word", [1, 8], "apple"),
        fact("case-never-counts", [2], "bANANA"),
        fact("diacritics-never-count", [6, 7], "cafe"),
        fact("diacritics-of-the-query-neither", [6, 7], "cafe\u{301}"),
        fact("all-words-in-any-order", [8], "pie apple"),
        fact("a-part-of-a-word-is-none", [], "app"),
        fact("a-prefix", [1, 8], "app*"),
        fact("a-prefix-is-folded", [6, 7], "CAF\u{c9}*"),
        fact("a-whole-word-is-a-prefix-too", [1, 8], "apple*"),
        fact("a-phrase", [8], "\"apple pie\""),
        fact("a-phrase-has-an-order", [], "\"pie apple\""),
        fact("a-phrase-that-ends-in-a-prefix", [8], "\"apple p*\""),
        fact("a-phrase-over-punctuation", [5], "\"50 off x\""),
        fact("words-that-are-joined-are-a-phrase", [5], "off\\x"),
        fact("a-word-that-must-not-occur", [1], "apple -pie"),
        fact("a-phrase-that-must-not-occur", [1], "apple -\"apple pie\""),
        fact("a-prefix-that-must-not-occur", [1], "app* -pi*"),
        fact("either", [2, 8], "banana OR pie"),
        fact("either-binds-tighter", [8], "apple banana OR pie"),
        fact("either-of-three", [2, 5, 8], "banana OR pie OR 50"),
        fact("or-in-small-letters-is-a-word", [], "banana or pie"),
        fact("digits", [5], "50"),
        fact("punctuation-says-nothing", [8], "apple & pie!"),
        fact("nothing-has-this", [], "\u{10ffff} zzz"),
        fact("hostile", [], "'; DROP TABLE \\x00 ' OR x'"),
    ]

    /// Cases about queries that contain no words, or cannot be parsed: they are refused before a store receives them.
    static let cases: [ConformanceCase] = [
        ConformanceCase("P042.malformed-searches-are-refused", clause: "T4") { harness, check in
            try harness.withFixture { scratch in
                for query in [
                    "", "  ", "&", "-apple", "\"apple", "\"\"", "-", "*", "a*b", "OR a", "a OR", "a OR OR b", "a OR -b", "apple *",
                    "\u{301}",
                ] {
                    let request = ObjectRequest("Thing", where: .text(.path("text"), .search, query))
                    check.isTrue((try? request.plan(in: scratch.schema)) == nil, "\(query) is refused")
                }
                let request = ObjectRequest("Thing", where: .text(.path("number"), .search, "a"))
                check.isTrue((try? request.plan(in: scratch.schema)) == nil, "a number has no words")
            }
        }
    ]
}
