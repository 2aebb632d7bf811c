internal import Foundation
internal import PolystoreStorage

/// Cases of group P about limits of constants, texts and lists in engines.
enum ConstantCases {
    static let all: [ConformanceCase] = [
        lists, coalesce, texts, patterns, awkwardPatterns, prefixes, remainders, ranges, keys, endedTexts, zeros, nils, limits,
    ]

    /// Checks the keys that conditions find, both in the store and above it.
    private static func check(_ facts: [(String, [Int64])], _ scratch: Scratch, _ check: Check) throws {
        for (text, keys) in facts {
            let request = ObjectRequest("Thing", where: try QueryPredicate(parsing: text)), plan = try request.plan(in: scratch.schema)
            check.equal(try scratch.keys(request), keys, text)
            let above = try scratch.read { try scratch.rows($0.through(NoPushdown.init).cursor(for: plan)).map(\.key) }
            check.equal(above, keys, "\(text) above the store")
        }
    }

    private static let lists = ConformanceCase("P072.constants-of-a-list-that-no-value-can-be", clause: "Q1") { harness, check in
        try harness.withStore { scratch in
            // 70,000 and 4,464 have the same lower 16 bits.
            try scratch.load("Thing", [(1, ["number": .int(1)]), (2, ["small": .int(4464), "parent": .int(1), "real": .double(0.5)])])
            try Self.check(
                [
                    ("children.@min.small IN {70000}", []), ("children.@min.small IN {70000, 4464}", [1]),
                    ("children.@min.small IN {4464.0, 0.5}", [1]), ("children.@min.small IN {4464.5}", []),
                    ("children.@max.real IN {1, 0.5}", [1]), ("coalesce(NIL) IN {1, NIL}", [1, 2]), ("coalesce(NIL) IN {1}", []),
                    ("length(text) IN {NIL, 70000}", [1, 2]),
                ], scratch, check)
        }
    }

    private static let coalesce = ConformanceCase("P073.coalesce-of-one", clause: "Q9") { harness, check in
        try harness.withFixture { scratch in
            try Self.check([("coalesce(text) == 'apple'", [1]), ("coalesce(coalesce(text), 'none') == 'none'", [3])], scratch, check)
        }
    }

    /// On a server whose database sorts by a language, "a" sorts before "B".
    private static let texts = ConformanceCase("P074.texts-of-constants-are-compared-by-bytes", clause: "V3") { harness, check in
        try harness.withFixture { scratch in
            try Self.check(
                [
                    ("TERNARY(number > 1, 'a', 'B') < 'a'", [1, 3, 4, 7]),
                    ("coalesce(TERNARY(number > 1, 'a', 'B'), 'a') > 'C'", [2, 5, 6, 8]),
                    ("concatenate(TERNARY(number > 1, 'a', 'B'), '') < 'C'", [1, 3, 4, 7]),
                ], scratch, check)
            let order = [OrderTerm(try QueryExpression(parsing: "TERNARY(number > 1, 'a', 'B')"), ascending: true)]
            check.equal(try scratch.keys(ObjectRequest("Thing", orderBy: order)), [1, 3, 4, 7, 2, 5, 6, 8], "an order")
        }
    }

    private static let patterns = ConformanceCase("P025.classes-that-are-folded", clause: "T1") { harness, check in
        try harness.withStore { scratch in
            let texts = ["A", "a", "Z", "z", "_", "N", "-", "\u{df}", "\u{c9}", "SSSS", "sss", "e\u{301}", "e"]
            try scratch.load("Thing", texts.enumerated().map { (Int64($0 + 1), ["text": .string($1)]) })
            try Self.check(
                [
                    // From "Z" over the characters between the letters to "a".
                    ("text MATCHES[c] '[Z-a]'", [1, 2, 3, 4, 5]), ("text MATCHES[c] '[A-z]'", [1, 2, 3, 4, 5, 6, 13]),
                    ("text MATCHES[c] '[A-]'", [1, 2, 7]), ("text MATCHES[c] '[+-\\\\-A]'", [1, 2, 7]),
                    ("text MATCHES[c] '[^A-Z]'", [5, 7, 9]),
                    ("text MATCHES[c] '\u{df}+'", [8, 10]), ("text MATCHES[c] '\\\\\u{c9}'", [9]),
                    ("text MATCHES[cd] '[\u{c9}-\u{cb}]'", [9, 12, 13]),
                    ("text MATCHES[c] '[\\\\n-B]'", [1, 2, 7]), ("text MATCHES[c] '[\u{1}-\\\\n]'", []),
                    // A mark that is removed from the pattern is still what a quantifier repeats.
                    ("text MATCHES[cd] '\u{301}+e'", [9, 12, 13]), ("text MATCHES[cd] 's\u{301}*'", []),
                    ("text MATCHES[c] '[\\\\D]'", [1, 2, 3, 4, 5, 6, 7, 9, 13]), ("text MATCHES '[A-Z]'", [1, 3, 6]),
                ], scratch, check)
        }
    }

    /// A server has limits for patterns that the contract does not have.
    private static let awkwardPatterns = ConformanceCase("P025.patterns-that-are-large-for-a-server", clause: "T1") { harness, check in
        try harness.withStore { scratch in
            let texts = ["", "a", "ab", "abab"]
            try scratch.load("Thing", texts.enumerated().map { (Int64($0 + 1), ["text": .string($1)]) })
            func optional(_ count: Int) -> String {
                (0..<count).map { "[^\(Character(Unicode.Scalar(UInt16(0x100 + 2 * $0)) ?? "x"))]?" }.joined()
            }
            let nothing = String(repeating: "(?:", count: 50) + String(repeating: "){1000}", count: 50)
            let repeated = String(repeating: "(?:(?:(?:(?:(?:^$){0,2}){1,3})?)?){2}{2}", count: 2)
            let patterns: [(String, [Int64])] = [
                (optional(99), [1, 2, 3, 4]), ("(?:\(optional(99)))*", [1, 2, 3, 4]), (String(repeating: "()", count: 5000) + "ab", [3]),
                (String(repeating: "(?:b){0}", count: 5000) + "a", [2]), ("a(?:(?:a{100}){99}){0}b", [3]), ("a(?:b{300}){0}", [2]),
                (repeated, [1]), ("(?:\(repeated)|a)+", [1, 2]), ("^^(^a|^ab$|)$$", [1, 2, 3]), ("(^|a)(^|b)", [1, 3]),
                ("(^a)?b?", [1, 2, 3]), (nothing, [1]), (nothing + "a", [2]),
                ("(^ab){1,2}", [3]), ("(?:ab$)*", [1, 3]), ("a^b|a$b", []), ("(a|$)(b|$)", [1, 2, 3]),
            ]
            let began = ContinuousClock.now
            for (pattern, expected) in patterns {
                let found = try scratch.keys(ObjectRequest("Thing", where: .text(QueryExpression.path("text"), .matches, pattern)))
                check.equal(found, expected, String(pattern.prefix(40)))
            }
            check.isTrue(began.duration(to: .now) < .seconds(10), "the patterns take \(began.duration(to: .now))")
        }
    }

    private static let prefixes = ConformanceCase("P075.prefixes-at-the-end-of-the-scalars", clause: "T1") { harness, check in
        try harness.withStore { scratch in
            let texts = ["\u{d7ff}x", "\u{e000}", "\u{10ffff}b", "\u{10ffff}", "a\u{10ffff}z", "b", "a", "ab", "aB"]
            try scratch.load("Thing", texts.enumerated().map { (Int64($0 + 1), ["text": .string($1)]) })
            try Self.check(
                [
                    ("text BEGINSWITH '\u{d7ff}'", [1]), ("text BEGINSWITH '\u{10ffff}'", [3, 4]), ("text BEGINSWITH 'a\u{10ffff}'", [5]),
                    ("text BEGINSWITH 'a'", [5, 7, 8, 9]), ("text BEGINSWITH 'aB'", [9]), ("NOT text BEGINSWITH 'a'", [1, 2, 3, 4, 6]),
                ], scratch, check)
        }
    }

    private static let keys = ConformanceCase("C062.the-greatest-key-leaves-none", clause: "R1") { harness, check in
        try harness.withStore { scratch in
            check.throwing(.limitExceeded, "a load") { try scratch.load("Thing", [(1, ["number": .int(1)]), (.max, ["number": .int(2)])]) }
            check.equal(try scratch.keys(ObjectRequest("Thing")), [], "no objects")
            try scratch.load("Thing", [(.max - 1, ["number": .int(3)])])
            check.equal(
                try scratch.keys(ObjectRequest("Thing", where: QueryPredicate(parsing: "number == 3"))), [.max - 1], "the last but one")
        }
    }

    private static let ranges = ConformanceCase("P076.a-range-is-found-by-its-index", clause: "S8") { harness, check in
        try harness.withStore { scratch in
            try scratch.load("Thing", (1...5_000).map { ($0, ["number": .int(5_000 - $0), "text": .string("text \($0)")]) })
            for (text, keys) in [
                ("number > 4995", [1, 2, 3, 4]), ("number < 2 AND text != 'text 5000'", [4999]), ("number BETWEEN {7, 8}", [4992, 4993]),
            ] {
                let request = ObjectRequest("Thing", where: try QueryPredicate(parsing: text)), plan = try request.plan(in: scratch.schema)
                let lines = try scratch.read { try $0.explanation(of: plan) }.joined(separator: "; ")
                if lines.isEmpty { throw NothingToCheck("the store explains no plans") }
                check.isTrue(lines.contains("Thing.index.number"), "\(text): the plan names the index: \(lines)")
                check.equal(try scratch.keys(request), keys.map(Int64.init), text)
                var first = request
                first.limit = 1
                check.equal(try scratch.keys(first), [Int64(keys[0])], "the first")
            }
            check.equal(try scratch.keys(ObjectRequest("Thing", where: QueryPredicate(parsing: "number > 100"))).count, 4_899, "most")
        }
    }

    private static let remainders = ConformanceCase("P026.remainders-of-long-decimals", clause: "Q2") { harness, check in
        try harness.withFixture { scratch in
            // The expected values were computed with Python's integers.
            try Self.check(
                [
                    ("modulus(price, 97) == 44", [5]),
                    ("modulus(price, DECIMAL '99999999999999999999999999999999999') == DECIMAL '45678901234567890123456789012345801'", [5]),
                ], scratch, check)
        }
    }

    /// No attribute has such a text, but a request can compute with it.
    private static let endedTexts = ConformanceCase("P088.texts-with-the-scalar-zero-beside-computed-ones", clause: "Q13") {
        harness, check in
        try harness.withStore { scratch in
            try scratch.load("Thing", [(1, ["text": .string("a")]), (2, ["text": .string("b")]), (3, ["text": .string("A")])])
            for (text, constant, keys) in [
                ("trim(text) != %@", "a\0", [1, 2, 3]), ("trim(text) < %@", "a\0", [1, 3]), ("trim(text) == %@", "a\0", []),
                ("lowercase(text) IN %@", "a\0", []), ("NOT trim(text) IN %@", "a\0", [1, 2, 3]), ("trim(text) BEGINSWITH %@", "a\0", []),
                ("NOT uppercase(text) CONTAINS %@", "A\0", [1, 2, 3]), ("text ==[c] %@", "A\0", []), ("text <[c] %@", "A\0", [1, 3]),
                ("text CONTAINS[cd] %@", "\0", []), ("length(concatenate(text, %@)) == 3", "\0x", [1, 2, 3]),
                ("coalesce(number, length(%@)) == 2", "a\0", [1, 2, 3]), ("TERNARY(text == 'a', %@, 'c') > 'b'", "a\0", [2, 3]),
            ] as [(String, String, [Int64])] {
                let argument: PredicateArgument =
                    text.contains("IN %@") ? .list([.string(constant), .string("z")]) : .value(.string(constant))
                let request = ObjectRequest("Thing", where: try QueryPredicate(parsing: text, arguments: [argument]))
                check.equal(try scratch.keys(request), keys, text)
                let count = QueryRequest(request, outputs: [QueryOutput(try QueryExpression(parsing: "@count()"))])
                check.equal(try scratch.query(count), [[.int(Int64(keys.count))]], "the number of \(text)")
            }
        }
    }

    private static let zeros = ConformanceCase("P089.there-is-one-zero", clause: "V2") { harness, check in
        try harness.withStore { scratch in
            try scratch.load("Thing", [(1, ["number": .int(0)])])
            for zero in [-0.0, 0.0, -0.0] {
                let expressions: [QueryExpression] = [
                    .value(.double(zero)), .function(.coalesce, [.path("real"), .value(.double(zero))]),
                    .function(.multiply, [.value(.double(zero)), .value(.double(-1))]),
                    .function(.multiply, [.path("number"), .value(.double(-1))]), .function(.negate, [.value(.double(zero))]),
                ]
                let outputs = expressions.enumerated().map { QueryOutput($1, as: "v\($0)") }
                for row in try scratch.query(QueryRequest(ObjectRequest("Thing"), outputs: outputs)) {
                    for (value, expression) in zip(row, expressions) {
                        guard case .double(let number) = value else {
                            check.isTrue(false, "\(expression) is \(value)")
                            continue
                        }
                        check.isTrue(number == 0 && number.sign == .plus, "\(expression) is \(number)")
                    }
                }
            }
        }
    }

    private static let nils = ConformanceCase("P090.aggregates-of-nil", clause: "Q4") { harness, check in
        try harness.withFixture { scratch in
            let answers: [(String, Value)] = [
                ("sum", .int(0)), ("avg", .null), ("min", .null), ("max", .null), ("median", .null), ("stddev", .null),
                ("distinctCount", .int(0)),
            ]
            let outputs = try answers.map { QueryOutput(try QueryExpression(parsing: "@\($0.0)(NIL)")) }
            check.equal(try scratch.query(QueryRequest(ObjectRequest("Thing"), outputs: outputs)), [answers.map(\.1)], "of all things")
        }
    }

    private static let limits = ConformanceCase("P091.the-greatest-limits-and-offsets", clause: "O4") { harness, check in
        try harness.withFixture { scratch in
            for text in ["text ENDSWITH 'a'", "number > 0", "text == 'Banana'", "TRUEPREDICATE"] {
                for key in ["number", "text", "real + 1"] {
                    let order = [OrderTerm(try QueryExpression(parsing: key), ascending: true)]
                    let all = ObjectRequest("Thing", where: try QueryPredicate(parsing: text), orderBy: order), keys = try scratch.keys(all)
                    for limit in [Int.max, .max - 1, 1 << 61, 1 << 58] {
                        var request = all
                        request.limit = limit
                        check.equal(try scratch.keys(request), keys, "\(text) by \(key), at most \(limit)")
                        request.offset = 1
                        check.equal(try scratch.keys(request), Array(keys.dropFirst()), "\(text) by \(key), at most \(limit) after one")
                        request.offset = limit
                        check.equal(try scratch.keys(request), [], "\(text) by \(key), at most \(limit) after as many")
                    }
                }
            }
        }
    }
}
