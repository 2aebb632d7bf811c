internal import Foundation
internal import PolystoreStorage

/// Cases of groups A, O and P about expressions: computed values of groups and objects, sort orders by them, and errors.
enum QueryCases {
    static let all: [ConformanceCase] = groups + values + orders + errors + others

    private static func expression(_ text: String) throws(QueryError) -> QueryExpression { try QueryExpression(parsing: text) }

    /// Returns a case over the fixture: a query in text form and its answer.
    private static func answer(
        _ id: String, _ clause: String, _ outputs: [String], _ expected: [[Value]], groupBy: [String] = [], having: String? = nil,
        where condition: String? = nil,
        orderBy: [(String, Bool)] = [], limit: Int? = nil, offset: Int = 0, isDistinct: Bool = false, entity: String = "Thing"
    ) -> ConformanceCase {
        ConformanceCase(id, clause: clause) { harness, check in
            try harness.withFixture { scratch in
                var sort: [OrderTerm] = [], list: [QueryOutput] = [], keys: [QueryExpression] = []
                for (text, ascending) in orderBy { sort.append(OrderTerm(try expression(text), ascending: ascending)) }
                for text in outputs {
                    let parts = text.split(separator: "=>").map { $0.trimmingCharacters(in: .whitespaces) }
                    list.append(QueryOutput(try expression(parts[0]), as: parts.count > 1 ? parts[1] : nil))
                }
                for text in groupBy { keys.append(try expression(text)) }
                let fetch = ObjectRequest(
                    entity, where: try condition.map { text throws(QueryError) in try QueryPredicate(parsing: text) }, orderBy: sort,
                    limit: limit,
                    offset: offset)
                let having = try having.map { text throws(QueryError) in try QueryPredicate(parsing: text) }
                let request = QueryRequest(fetch, outputs: list, groupBy: keys, having: having, isDistinct: isDistinct)
                let found = try scratch.query(request)
                check.equal(found.count, expected.count, "rows")
                for (row, wanted) in zip(found, expected) {
                    check.isTrue(
                        row.count == wanted.count && zip(row, wanted).allSatisfy { AggregateCases.near($0, $1) }, "\(row) is \(wanted)")
                }
                // The same values must follow from rows that the layer above the store reads.
                let plan = try request.plan(in: scratch.schema)
                let above = try scratch.read { try $0.through(NoPushdown.init).values(for: plan) }
                for (row, wanted) in zip(above, expected) {
                    check.isTrue(zip(row, wanted).allSatisfy { AggregateCases.near($0, $1) }, "\(row) is \(wanted) above the store")
                }
                check.equal(above.count, expected.count, "rows above the store")
            }
        }
    }

    private static let groups = [
        answer(
            "A012.having", "Q5", ["flag", "@count()"], [[.null, .int(3)], [.bool(true), .int(3)]], groupBy: ["flag"],
            having: "@count() > 2"),
        answer("A012.having-of-an-alias", "Q5", ["flag", "@count() => n"], [[.bool(false), .int(2)]], groupBy: ["flag"], having: "n < 3"),
        answer(
            "A012.condition-in-an-output-is-of-the-key", "Q5", ["TERNARY(flag == TRUE, 1, 0) => flag", "@count()"],
            [[.int(0), .int(3)], [.int(0), .int(2)], [.int(1), .int(3)]], groupBy: ["flag"]),
        answer("A012.having-of-a-key", "Q5", ["flag", "@count()"], [[.bool(true), .int(3)]], groupBy: ["flag"], having: "flag == TRUE"),
        answer("A012.having-without-groups", "Q5", ["@count()"], [], having: "@count() > 100"),
        answer(
            "A012.having-of-another-aggregate", "Q5", ["flag"], [[.bool(false)]], groupBy: ["flag"],
            having: "@min(number) == 2 AND @count() == 2"
        ),
        answer(
            "A018.order-by-an-aggregate", "Q5", ["flag", "@count() => n"],
            [[.null, .int(3)], [.bool(true), .int(3)], [.bool(false), .int(2)]], groupBy: ["flag"], orderBy: [("@count()", false)]),
        answer(
            "A018.order-by-an-alias-and-limit", "Q5", ["flag", "@count() => n"], [[.null, .int(3)]], groupBy: ["flag"],
            orderBy: [("n", true)], limit: 1, offset: 1),
        answer(
            "A023.expressions-of-aggregates", "Q5", ["flag", "@count() * 10 + 1"],
            [[.null, .int(31)], [.bool(false), .int(21)], [.bool(true), .int(31)]], groupBy: ["flag"]),
        answer(
            "A024.group-by-an-expression", "Q5", ["length(text) => n", "@count()"],
            [[.null, .int(1)], [.int(0), .int(1)], [.int(4), .int(1)], [.int(5), .int(2)], [.int(6), .int(1)], [.int(9), .int(2)]],
            groupBy: ["length(text)"]),
        answer(
            "A013.group-by-a-count-of-related", "Q8", ["children.@count => n", "@count()"],
            [[.int(0), .int(6)], [.int(2), .int(1)], [.int(3), .int(1)]], groupBy: ["children.@count"]),
        answer(
            "A016.no-double-counting", "Q8", ["@count()", "@sum(number)"], [[.int(2), .int(3)]],
            where: "ANY tags.name != NIL AND number < 100"),
        answer(
            "A031.a-count-of-rows-needs-no-parentheses", "Q5", ["flag", "@count", "@count * 10 + 1"],
            [[.null, .int(3), .int(31)], [.bool(false), .int(2), .int(21)], [.bool(true), .int(3), .int(31)]], groupBy: ["flag"]),
        answer("A031.distinct-rows-of-groups", "Q5", ["@count()"], [[.int(3)], [.int(2)]], groupBy: ["flag"], isDistinct: true),
        answer("A031.distinct-rows-are-cut", "Q5", ["@count()"], [[.int(2)]], groupBy: ["flag"], limit: 1, offset: 1, isDistinct: true),
        answer("A015.distinct-rows", "Q12", ["flag"], [[.null], [.bool(false)], [.bool(true)]], isDistinct: true),
        answer(
            "A025.aggregate-of-an-expression", "Q9", ["@sum(length(text))", "@max(length(text))"],
            [[.int(38), .int(9)]]),
    ]

    private static let small = "number BETWEEN {-10, 10}"

    private static let values = [
        answer("A026.standard-deviation", "Q6", ["@stddev(number)"], [[.double(3.774917217635375)]], where: small),
        answer("A026.of-a-sample", "Q6", ["@stddevSample(number)"], [[.double(4.358898943540674)]], where: small),
        answer("A026.of-one", "Q6", ["@stddev(number)", "@stddevSample(number)"], [[.double(0), .null]], where: "number == 1"),
        answer(
            "A003.deviation-and-median-of-nothing", "Q4", ["@stddev(number)", "@median(number)"], [[.null, .null]], where: "number == 99"),
        answer("A027.median-of-four", "Q6", ["@median(number)"], [[.double(1.5)]], where: small),
        answer("A027.median-of-doubles", "Q6", ["@median(real)"], [[.double(0.75)]], where: "real BETWEEN {-10, 10}"),
        answer("A027.median-of-decimals", "Q6", ["@median(price)"], [[.decimal(Decimal(string: "0.55000005") ?? 0)]]),
        answer(
            "A028.counts-of-each-object", "Q8", ["SELF", "children.@count", "tags.@count"],
            [[1, 3, 2], [2, 2, 1], [3, 0, 0], [4, 0, 1], [5, 0, 0], [6, 0, 0], [7, 0, 0], [8, 0, 1]].map { $0.map { .int($0) } }),
        answer(
            "A022.expressions-of-each-object", "Q9", ["concatenate(label, '!')", "coalesce(thing.text, '-')"],
            [[.string("h3!"), .string("-")], [.string("h9!"), .string("-")]], where: "thing.text == NIL", entity: "Holder"),
    ]

    private static func order(
        _ id: String, _ clause: String, _ keys: [(String, Bool)], _ expected: [Int64], limit: Int? = nil
    ) -> ConformanceCase {
        ConformanceCase(id, clause: clause) { harness, check in
            try harness.withFixture { scratch in
                var sort: [OrderTerm] = []
                for (text, ascending) in keys { sort.append(OrderTerm(try expression(text), ascending: ascending)) }
                let request = ObjectRequest("Thing", orderBy: sort, limit: limit)
                check.equal(try scratch.keys(request), expected, "keys")
                check.equal(ReferenceStore.fixture.keys(request), expected, "keys of the reference")
            }
        }
    }

    private static let orders = [
        order("O013.by-a-count", "O3", [("children.@count", false)], [1, 2, 3, 4, 5, 6, 7, 8]),
        order("O013.by-a-count-ascending", "O3", [("tags.@count", true), ("number", false)], [6, 5, 7, 3, 8, 2, 4, 1]),
        order("O014.by-a-length", "O3", [("length(text)", true)], [3, 4, 6, 1, 7, 2, 5, 8]),
        order("O014.by-a-length-descending-and-cut", "O3", [("length(text)", false)], [5, 8, 2], limit: 3),
        order("O014.by-a-number-that-is-computed", "O3", [("modulus(number, 3)", false), ("real", true)], [2, 5, 1, 8, 6, 4, 7, 3]),
        order("O008.by-a-folded-text", "O3", [("folded[c](text)", true)], [3, 4, 5, 1, 8, 2, 7, 6]),
    ]

    private static func failure(_ id: String, _ clause: String, _ code: StorageError.Code, _ condition: String) -> ConformanceCase {
        ConformanceCase(id, clause: clause) { harness, check in
            try harness.withFixture { scratch in
                check.throwing(code, condition) {
                    do throws(QueryError) {
                        let request = ObjectRequest("Thing", where: try QueryPredicate(parsing: condition))
                        _ = try request.plan(in: scratch.schema)
                    } catch {
                        throw StorageError(error)
                    }
                    _ = try scratch.keys(ObjectRequest("Thing", where: try QueryPredicate(parsing: condition)))
                }
            }
        }
    }

    private static let errors = [
        failure("P026.sum-overflows", "Q2", .arithmeticOverflow, "number + 1 > 0"),
        failure("P026.negation-overflows", "Q2", .arithmeticOverflow, "-number < 0"),
        failure("P026.double-overflows", "Q2", .arithmeticOverflow, "real * 1e300 > 0"),
        failure("P027.division-by-zero", "Q3", .divisionByZero, "number / (number - number) == 1"),
        failure("P027.constants-divided-by-zero", "Q3", .divisionByZero, "number == 1 / 0"),
        failure("P027.modulo-by-zero", "Q3", .divisionByZero, "modulus(number, 0) == 1"),
        failure("P026.product-overflows", "Q2", .arithmeticOverflow, "number * number > 0"),
        failure("P046.text-and-number", "Q10", .invalidPredicate, "text + 1 == 2"),
        failure("P046.number-as-text", "Q10", .invalidPredicate, "number BEGINSWITH 'a'"),
        failure("P046.two-kinds", "Q10", .invalidPredicate, "length(text) == 'a'"),
        failure("P046.aggregate-in-a-condition", "Q10", .invalidPredicate, "@count() == 1"),
        failure("P047.unknown-in-a-subquery", "Q10", .invalidPredicate, "ANY children.nmuber == 1"),
        failure("P047.to-many-as-a-value", "Q10", .invalidPredicate, "children == 1"),
        failure("P047.any-of-an-attribute", "Q10", .invalidPredicate, "ANY text == 'a'"),
        failure("P025.ill-formed-pattern", "Q10", .invalidPredicate, "text MATCHES '(a'"),
        failure("P043.unknown-entity", "Q10", .invalidPredicate, "SELF ISA 'Tihng'"),
        failure("P030.unknown-time-zone", "Q10", .invalidPredicate, "hour(at, 'Mars/Olympus') == 1"),
    ]

    private static let others = [
        ConformanceCase("P026.short-circuit", clause: "Q2") { harness, check in
            try harness.withFixture { scratch in
                // A computation that would fail for other rows is not performed for them.
                for text in [
                    "number BETWEEN {-10, 10} AND 6 / (number - 1) == 6", "number == 2 AND 6 / (number - 1) == 6",
                    "ANY children.number == 2 AND 4 / number == 2",
                ] {
                    let request = ObjectRequest(
                        "Thing", where: .and([.not(.compare(.path("number"), .equal, .value(.int(1)))), try QueryPredicate(parsing: text)]))
                    check.equal(try scratch.keys(request), text.hasPrefix("ANY") ? [2] : [2, 5], text)
                }
            }
        },
        ConformanceCase("P030.date-parts", clause: "Q9") { harness, check in
            try harness.withStore { scratch in
                // 2026-03-29: at 1:00 UTC, clocks in Berlin change from 2 to 3. Also a moment before 1970, and one in the year 1.
                let moments: [Int64] = [
                    1_774_745_999_000_000, 1_774_746_000_000_000, -1, -62_135_596_800_000_000, 951_782_400_000_000,
                ]
                try scratch.load("Thing", moments.enumerated().map { (Int64($0 + 1), ["at": .date($1)]) })
                let facts: [(String, [Int64])] = [
                    ("hour(at) == 0", [1, 4, 5]), ("hour(at, 'Europe/Berlin') == 1 AND year(at) > 1", [1, 5]),
                    ("hour(at, 'Europe/Berlin') == 3", [2]),
                    ("year(at) == 1969 AND second(at) == 59", [3]), ("year(at) == 1 AND dayOfYear(at) == 1", [4]),
                    ("month(at) == 2 AND day(at) == 29 AND dayOfYear(at) == 60", [5]), ("weekday(at) == 1", [1, 2]),
                    ("weekday(at) == 2 AND year(at) == 1", [4]), ("minute(at) == 59", [1, 3]),
                ]
                for (text, keys) in facts {
                    check.equal(try scratch.keys(ObjectRequest("Thing", where: QueryPredicate(parsing: text))), keys, text)
                }
                let groups = QueryRequest(
                    ObjectRequest("Thing"), outputs: [QueryOutput(try expression("month(at)"), as: "m"), .aggregate(Aggregate(.count))],
                    groupBy: [try expression("month(at)")])
                check.equal(
                    try scratch.query(groups), [[.int(1), .int(1)], [.int(2), .int(1)], [.int(3), .int(2)], [.int(12), .int(1)]], "months")
            }
        },
        ConformanceCase("P043.entities", clause: "R9") { harness, check in
            try harness.withStore { scratch in
                let trees = try scratch.insert("Tree", [["height": .int(3)], ["height": .int(4)]])
                let flowers = try scratch.insert("Flower", [["color": .string("red")]])
                check.equal(try scratch.keys(ObjectRequest("Plant", where: QueryPredicate(parsing: "SELF ISA 'Tree'"))), trees, "trees")
                check.equal(
                    try scratch.keys(ObjectRequest("Plant", where: QueryPredicate(parsing: "NOT SELF ISA 'Tree'"))), flowers, "others")
                let plants = try scratch.keys(ObjectRequest("Tree", where: QueryPredicate(parsing: "SELF ISA 'Plant'")))
                check.equal(plants, trees, "every tree")
                check.equal(try scratch.keys(ObjectRequest("Tree", where: QueryPredicate(parsing: "SELF ISA 'Flower'"))), [], "no tree")
            }
        },
        ConformanceCase("P041.limit-after-what-is-left-over", clause: "Q13") { harness, check in
            try harness.withStore { scratch in
                try scratch.load("Thing", (1...100).map { ($0, ["number": .int($0), "text": .string($0 % 2 == 0 ? "Even" : "odd")]) })
                let request = ObjectRequest(
                    "Thing", where: try QueryPredicate(parsing: "number > 10 AND lowercase(text) == 'even' AND number * 2 < 150"),
                    orderBy: [OrderTerm("number", ascending: false)], limit: 3, offset: 1)
                check.equal(try scratch.keys(request), [72, 70, 68], "keys")
                let count = QueryRequest(
                    ObjectRequest("Thing", where: try QueryPredicate(parsing: "lowercase(text) == 'even'")),
                    outputs: [.aggregate(Aggregate(.count))])
                check.equal(try scratch.query(count), [[.int(50)]], "count")
            }
        },
        ConformanceCase("A014.group-by-a-folded-text", clause: "T2") { harness, check in
            try harness.withStore { scratch in
                try scratch.load("Thing", ["a", "A", "b", "\u{c4}", "\u{e4}"].enumerated().map { (Int64($0 + 1), ["text": .string($1)]) })
                let key = try expression("folded[c](text)")
                let request = QueryRequest(
                    ObjectRequest("Thing"), outputs: [QueryOutput(key), .aggregate(Aggregate(.count))], groupBy: [key])
                check.equal(
                    try scratch.query(request), [[.string("a"), .int(2)], [.string("b"), .int(1)], [.string("\u{e4}"), .int(2)]], "groups")
            }
        },
        ConformanceCase("P020.full-case-folding", clause: "T2") { harness, check in
            try harness.withStore { scratch in
                let texts = [
                    "Stra\u{df}e", "STRASSE", "\u{3a3}\u{3af}\u{3c3}\u{3c5}\u{3c6}\u{3bf}\u{3c2}", "\u{130}", "i", "\u{13a0}", "\u{ab70}",
                    "\u{f8}", "o", "\u{1ebf}",
                ]
                try scratch.load("Thing", texts.enumerated().map { (Int64($0 + 1), ["text": .string($1)]) })
                let facts: [(String, [Int64])] = [
                    ("text ==[c] 'strasse'", [1, 2]), ("text ENDSWITH[c] '\u{3c3}'", [3]), ("text ==[c] 'I'", [5]),
                    ("text ==[cd] 'I'", [4, 5]), ("text ==[c] '\u{13a0}'", [6, 7]), ("text ==[cd] 'o'", [9]),
                    ("text ==[d] 'e'", [10]), ("text ==[d] '\u{ea}\u{301}'", [10]),
                ]
                for (text, keys) in facts {
                    check.equal(try scratch.keys(ObjectRequest("Thing", where: QueryPredicate(parsing: text))), keys, text)
                }
            }
        },
        ConformanceCase("A019.aliases", clause: "Q5") { harness, check in
            try harness.withStore { scratch in
                let clash = QueryRequest(
                    ObjectRequest("Thing"),
                    outputs: [.aggregate(Aggregate(.count), as: "n"), .aggregate(Aggregate(.sum, "number"), as: "n")])
                do throws(QueryError) {
                    _ = try clash.plan(in: scratch.schema)
                    check.isTrue(false, "two equal aliases are refused")
                } catch {
                    check.equal(error.path, "n", "the alias that is named")
                }
                check.equal(QueryOutput.aggregate(Aggregate(.count, "children")).alias, "count(children)", "the alias by itself")
                check.equal(QueryOutput.aggregate(Aggregate(.average, "number")).alias, "average(number)", "the alias by itself")
            }
        },
    ]
}
