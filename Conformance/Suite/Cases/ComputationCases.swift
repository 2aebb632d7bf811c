internal import PolystoreStorage

/// Cases of group P about conditions, orders and values that stores compute only in part, or not at all.
enum ComputationCases {
    static let all: [ConformanceCase] = [marks]

    private static func predicate(_ text: String) throws -> QueryPredicate { try QueryPredicate(parsing: text) }

    /// Checks the keys that a condition finds in each kind of request, in the store and above it.
    private static func check(_ text: String, _ keys: [Int64], _ scratch: Scratch, _ check: Check) throws {
        let condition = try predicate(text), fetch = FetchRequest("Thing", where: condition), plan = try fetch.plan(in: scratch.schema)
        check.equal(try scratch.keys(fetch), keys, text)
        let above = try scratch.read { try scratch.rows($0.through(NoPushdown.init).cursor(for: plan)).map(\.key) }
        check.equal(above, keys, "\(text) above the store")
        let backwards = FetchRequest("Thing", where: condition, orderBy: [OrderTerm("SELF", ascending: false)], limit: 9)
        check.equal(try scratch.keys(backwards), keys.reversed(), "\(text) backwards")
        let count = QueryRequest(fetch, outputs: [.aggregate(Aggregate(.count))])
        check.equal(try scratch.query(count), [[.int(Int64(keys.count))]], "the number of \(text)")
    }

    private static let marks = ConformanceCase("P079.marks-without-case", clause: "T2") { harness, check in
        try harness.withStore { scratch in
            let texts = ["ABC", "abc", "\u{c4}BC", "x", nil, "A\u{308}BC", "\u{e4}bc"]
            try scratch.load("Thing", texts.enumerated().map { (Int64($0 + 1), ["text": $1.map(Value.string) ?? .null]) })
            let facts: [(String, [Int64])] = [
                ("text ==[d] 'ABC'", [1, 3, 6]), ("text ==[d] '\u{c4}BC'", [1, 3, 6]), ("text !=[d] 'ABC'", [2, 4, 5, 7]),
                ("NOT (text ==[d] 'ABC')", [2, 4, 5, 7]), ("text CONTAINS[d] 'BC'", [1, 3, 6]), ("text BEGINSWITH[d] 'A'", [1, 3, 6]),
                ("text ENDSWITH[d] 'BC'", [1, 3, 6]), ("text LIKE[d] 'A?C'", [1, 3, 6]), ("text IN[d] {'ABC', 'X'}", [1, 3, 6]),
                ("folded[d](text) == 'abc'", [2, 7]), ("folded[d](text) < 'a'", [1, 3, 6]), ("folded[d](text) >= 'B'", [2, 4, 7]),
                ("text ==[d] 'ABC' OR text ==[d] 'x'", [1, 3, 4, 6]), ("text ==[c] 'ABC'", [1, 2]), ("text ==[c] '\u{c4}BC'", [3, 7]),
                ("text ==[cd] 'abc'", [1, 2, 3, 6, 7]), ("text CONTAINS[cd] 'B'", [1, 2, 3, 6, 7]),
            ]
            for (text, keys) in facts { try Self.check(text, keys, scratch, check) }
        }
    }
}
