internal import Foundation
internal import PolystoreStorage

/// Cases of groups A and P about values that engines compute: each store gives what the evaluator above the stores gives, errors included.
enum EngineCases {
    static let all: [ConformanceCase] = [functions, sides, excluded, aggregates, related]

    /// An answer or the code of an error.
    private enum Outcome: Equatable {
        case rows([[Value]])
        case keys([Int64])
        case error(String)

        /// Whether two outcomes are equal; doubles may differ by a relative 1e-12.
        func isNear(_ other: Outcome) -> Bool {
            guard case .rows(let a) = self, case .rows(let b) = other, a.count == b.count else { return self == other }
            return zip(a, b).allSatisfy { x, y in x.count == y.count && zip(x, y).allSatisfy { AggregateCases.near($0, $1) } }
        }
    }

    private static func outcome(_ body: () throws -> Outcome) -> Outcome {
        do { return try body() } catch let error as StorageError { return .error("\(error.code)") } catch { return .error("\(error)") }
    }

    /// The outcomes of a request in a store and above it.
    private static func outcomes(_ scratch: Scratch, _ request: QueryRequest) -> (store: Outcome, above: Outcome) {
        (
            outcome { .rows(try scratch.query(request)) },
            outcome {
                let plan = try request.plan(in: scratch.schema)
                return .rows(try scratch.read { try $0.through(NoPushdown.init).values(for: plan) })
            }
        )
    }

    private static func outcomes(_ scratch: Scratch, _ request: ObjectRequest) -> (store: Outcome, above: Outcome) {
        (
            outcome { .keys(try scratch.keys(request)) },
            outcome {
                let plan = try request.plan(in: scratch.schema)
                return .keys(try scratch.read { try scratch.rows($0.through(NoPushdown.init).cursor(for: plan)) }.map(\.key))
            }
        )
    }

    private static func decimal(_ text: String) -> Value { Decimal(string: text).map(Value.decimal) ?? .null }

    /// Rows with the extreme values of each type. Each combination of two columns occurs in several rows.
    private static let rows: [(Int64, [String: Value])] = {
        let nines = String(repeating: "9", count: 38)
        let columns: [(String, [Value])] = [
            ("number", [Int64.min, .min + 1, -7, -1, 0, 1, 2, 3, .max - 1, .max].map(Value.int) + [.null]),
            ("medium", [Int64(Int32.min), -3, 0, 2, Int64(Int32.max)].map(Value.int) + [.null, .int(7)]),
            ("small", [Int64(Int16.min), -1, 0, 2, Int64(Int16.max)].map(Value.int)),
            (
                "real",
                [-.infinity, -1.7e308, -2.5, -0.5, .leastNonzeroMagnitude, 0, 0.5, 1.5, 2.5, 1.7e308, .infinity].map(Value.double) + [.null]
            ),
            ("price", ["-" + nines, "-2.5", "-0.5", "0", "1e-128", "0.1", "1.5", "3", nines, "1e100"].map(decimal) + [.null]),
            (
                "text",
                [
                    "", " a\t", "\u{a0}x\u{2003}", "Stra\u{df}e", "STRASSE", "\u{130}", Fixture.composed, Fixture.decomposed, "\u{1c6}",
                    "a%b_c", "'; --",
                ].map(Value.string) + [.null]
            ),
            (
                "at",
                [
                    -62_135_596_800_000_000, -1, 0, 951_782_400_000_000, 1_774_745_999_000_000, 1_774_746_000_000_000,
                    253_402_300_799_999_999,
                ].map(Value.date) + [.null]
            ),
            ("flag", [.bool(true), .bool(false), .null]),
        ]
        return (0..<24).map { row in
            var values: [String: Value] = [:]
            for (name, list) in columns { values[name] = list[row % list.count] }
            return (Int64(row + 1), values)
        }
    }()

    private static let expressions = [
        "number + 1", "number - medium", "number * small", "medium * small", "medium + small", "number / medium", "number / 2",
        "number / -1",
        "modulus(number, medium)", "modulus(number, 3)", "modulus(number, -1)", "negate(number)", "negate(small)", "abs(number)",
        "abs(medium)",
        "(number + 1) * 2 - small", "floor(number)", "number + real", "number + price", "real + 1", "real * 2", "real / 3", "real * real",
        "modulus(real, 2)", "floor(real)", "ceiling(real)", "round(real)", "abs(real)", "negate(real)", "price + 1", "price * price",
        "price / 3", "modulus(price, 2)", "floor(price)", "ceiling(price)", "round(price)", "abs(price)", "negate(price)", "real * price",
        "bitAnd(number, small)", "bitOr(number, 6)", "uppercase(text)", "lowercase(text)", "trim(text)", "length(text)",
        "length(concatenate(text, 'x'))", "concatenate(trim(text), lowercase(text))", "folded[c](text)", "folded[cd](text)",
        "coalesce(number, 1)", "coalesce(medium, real)", "coalesce(real, price)", "coalesce(medium, small)", "coalesce(medium, number + 1)",
        "TERNARY(flag == TRUE, number, small)", "TERNARY(flag == TRUE, number, real)", "TERNARY(flag == TRUE, number + 1, 0)",
        "TERNARY(number + 1 > 0, 1, 2)", "year(at)", "month(at)", "day(at)", "hour(at)", "minute(at)", "second(at)", "weekday(at)",
        "dayOfYear(at)", "hour(at, 'Europe/Berlin')", "year(at, 'Asia/Kolkata')", "year(at) * 12 + month(at)",
    ]

    private static func output(_ expression: QueryExpression, _ fetch: ObjectRequest) -> QueryRequest {
        QueryRequest(fetch, outputs: [QueryOutput(expression, as: "value")])
    }

    private static let functions = ConformanceCase("P077.computed-values-of-extreme-numbers", clause: "Q13") { harness, check in
        try harness.withStore { scratch in
            try scratch.load("Thing", rows)
            for text in expressions {
                let expression = try QueryExpression(parsing: text)
                var succeeding: [Value] = [], results: [Value] = []
                for (key, _) in rows {
                    let own = QueryPredicate.compare(.path("SELF"), .equal, .value(.int(key)))
                    let (store, above) = outcomes(scratch, output(expression, ObjectRequest("Thing", where: own)))
                    check.equal(store, above, "\(text) of \(key)")
                    let isKnown = QueryPredicate.compare(expression, .notEqual, .value(.null))
                    let condition = outcomes(scratch, ObjectRequest("Thing", where: .and([own, isKnown])))
                    check.equal(condition.store, condition.above, "\(text) of \(key) is not nil")
                    guard case .rows(let found) = above else { continue }
                    succeeding.append(.int(key))
                    if let result = found.first?.first, !result.isNull { results.append(result) }
                }
                let some = QueryPredicate.isIn(.path("SELF"), succeeding)
                for result in Set([results.first, results.last, results.dropFirst(results.count / 2).first].compactMap(\.self)) {
                    for comparison in [Comparison.equal, .notEqual, .lessOrEqual, .greater] {
                        let condition = QueryPredicate.compare(expression, comparison, .value(result))
                        for all in [QueryPredicate.and([some, condition]), .and([some, .not(condition)])] {
                            let (store, above) = outcomes(scratch, ObjectRequest("Thing", where: all))
                            check.equal(store, above, "\(text) \(comparison) \(result)")
                        }
                    }
                    let list = outcomes(scratch, ObjectRequest("Thing", where: .and([some, .isIn(expression, [result, .null])])))
                    check.equal(list.store, list.above, "\(text) in a list")
                }
                let ordered = ObjectRequest("Thing", where: some, orderBy: [OrderTerm(expression, ascending: false)], limit: 9)
                let order = outcomes(scratch, ordered)
                check.equal(order.store, order.above, "the order by \(text)")
                let groups = outcomes(
                    scratch,
                    QueryRequest(
                        ObjectRequest("Thing", where: some),
                        outputs: [QueryOutput(expression, as: "value"), .aggregate(Aggregate(.count))],
                        groupBy: [expression]))
                check.equal(groups.store, groups.above, "groups by \(text)")
                for request in [ObjectRequest("Thing"), ObjectRequest("Thing", orderBy: [OrderTerm(expression, ascending: true)])] {
                    let all = outcomes(scratch, output(expression, request))
                    check.equal(all.store, all.above, "\(text) of all")
                }
            }
        }
    }

    /// Conditions between computed values, and between them and properties of other types.
    private static let sides = ConformanceCase("P077.computed-values-on-both-sides", clause: "Q1") { harness, check in
        try harness.withStore { scratch in
            try scratch.load("Thing", rows)
            let texts = [
                "price / 2 > 1", "price * 1 == 3", "real / 2 < 1", "medium * 2 == small * 2", "medium + 1 > real", "medium + 1 == price",
                "real / 2 > price", "abs(medium) >= abs(small)", "medium * 1 > 1.5", "medium + 1 == 3.0", "lowercase(text) == trim(text)",
                "length(text) > small", "year(at) > medium", "uppercase(text) MATCHES 'S.*'", "trim(text) LIKE '?'",
                "trim(text) BEGINSWITH[cd] 'CAF'", "text LIKE[c] 'stra?e'", "text MATCHES[c] 'stra(ss|x)e'",
                "uppercase(text) IN {'STRASSE'}",
            ]
            for text in texts {
                let (store, above) = outcomes(scratch, ObjectRequest("Thing", where: try QueryPredicate(parsing: text)))
                check.equal(store, above, text)
                if case .error = above { check.isTrue(false, "\(text) has an answer") }
            }
        }
    }

    private static let excluded = ConformanceCase("P078.what-is-excluded-is-not-computed", clause: "Q2") { harness, check in
        try harness.withStore { scratch in
            try scratch.load(
                "Thing",
                [
                    (1, ["number": .int(.max), "flag": .bool(false)]), (2, ["number": .int(1), "flag": .bool(true)]),
                    (3, ["number": .int(5), "flag": .bool(true), "parent": .int(2)]), (4, ["number": .int(.max), "flag": .bool(false)]),
                ])
            let facts: [(String, [Int64])] = [
                ("flag == TRUE AND number + 1 > 1", [2, 3]), ("flag == FALSE OR number + 1 > 5", [1, 3, 4]),
                ("NOT (flag == FALSE OR number + 1 < 5)", [3]), ("(flag == TRUE AND number * 2 > 5) OR text == 'x'", [3]),
                ("TERNARY(flag == TRUE, number + 1, 0) == 6", [3]),
                ("number != 1 AND flag == TRUE AND number / (number - 1) == 1", [3]),
                ("SUBQUERY(children, $x, $x.number + 1 > 0).@count > 0", [2]),
                ("SUBQUERY(children, $x, $x.flag == TRUE AND $x.number * 2 > 9).@count == 1", [2]),
                ("parent.number + 1 > 1", [3]), ("parent.flag == TRUE AND parent.number + 1 > 1", [3]),
                ("children.@sum.number + 1 > 5", [2]), ("flag == TRUE AND (number + 1 == 2 OR number + 1 == 6)", [2, 3]),
            ]
            for (text, keys) in facts {
                let condition = try QueryPredicate(parsing: text), count = QueryOutput.aggregate(Aggregate(.count))
                for request in [
                    ObjectRequest("Thing", where: condition),
                    ObjectRequest("Thing", where: condition, orderBy: [OrderTerm("flag"), OrderTerm("SELF")], limit: 9),
                ] { check.equal(try scratch.keys(request).sorted(), keys, text) }
                check.equal(
                    try scratch.query(QueryRequest(ObjectRequest("Thing", where: condition), outputs: [count])),
                    [[.int(Int64(keys.count))]],
                    "the number of \(text)")
            }
            for text in ["number + 1 > 0", "number + 1 > 0 OR flag == TRUE", "flag == FALSE AND number + 1 > 0", "NOT (number * 2 == 3)"] {
                check.throwing(.arithmeticOverflow, text) {
                    _ = try scratch.keys(ObjectRequest("Thing", where: QueryPredicate(parsing: text)))
                }
            }
            check.throwing(.divisionByZero, "by zero") {
                _ = try scratch.keys(ObjectRequest("Thing", where: QueryPredicate(parsing: "flag == TRUE AND 7 / (number - 1) > 0")))
            }
            // An error leaves the session usable.
            try scratch.read { session in
                let failing = try ObjectRequest("Thing", where: QueryPredicate(parsing: "number + 1 > 0")).plan(in: scratch.schema)
                check.throwing(.arithmeticOverflow, "in a session") { _ = try scratch.rows(session.cursor(for: failing)) }
                check.equal(try scratch.fetch(ObjectRequest("Thing"), session).count, 4, "rows after an error")
            }
        }
    }

    private static let functionsOfMany: [AggregateFunction] = [
        .count, .countDistinct, .sum, .average, .minimum, .maximum, .standardDeviation, .sampleStandardDeviation, .median,
    ]

    private static let aggregates = ConformanceCase("A032.aggregates-of-extreme-numbers", clause: "Q13") { harness, check in
        try harness.withStore { scratch in
            // Whether the sum of the greatest doubles overflows on the way depends on their order.
            func smaller(_ value: Value) -> Value {
                guard case .double(let number) = value, number.isFinite else { return value }
                return .double(min(max(number, -1e300), 1e300))
            }
            try scratch.load("Thing", rows.map { ($0, $1.mapValues(smaller)) })
            let arguments = [
                "number", "medium", "small", "real", "price", "medium * small", "number / 3", "number + 1", "real / 4", "price * 2",
                "length(text)", "year(at)", "TERNARY(flag == TRUE, medium, real)",
            ]
            let conditions = [
                nil, "SELF > 100", "SELF IN {1}", "number > -10 AND number < 10", "real > -10 AND real < 10", "price > -10 AND price < 10",
                "real > 0",
            ]
            for text in arguments {
                let argument = try QueryExpression(parsing: text)
                for function in functionsOfMany {
                    for condition in conditions {
                        let fetch = ObjectRequest(
                            "Thing", where: try condition.map { text throws(QueryError) in try QueryPredicate(parsing: text) })
                        let output = QueryOutput.aggregate(Aggregate(function, of: argument))
                        for keys in [[], [QueryExpression.path("flag")]] {
                            let request = QueryRequest(fetch, outputs: [output], groupBy: keys), (store, above) = outcomes(scratch, request)
                            check.isTrue(
                                store.isNear(above), "\(function.rawValue) of \(text) where \(condition ?? "all"): \(store) is \(above)")
                        }
                    }
                }
            }
        }
    }

    private static let related = ConformanceCase("A033.aggregates-of-related-extremes", clause: "Q8") { harness, check in
        try harness.withStore { scratch in
            // 1 and 2 have four children each, 3 has one, 4 has none.
            try scratch.load(
                "Thing",
                rows.prefix(13).map { key, values in (key, values.merging(["parent": key > 4 ? .int(key % 3 + 1) : .null]) { $1 }) })
            for function in functionsOfMany {
                for name in ["number", "medium", "small", "real", "price"] {
                    let aggregate = QueryExpression.related(RelatedAggregate(function, "children", PropertyPath(name)))
                    var succeeding: [Value] = []
                    for (key, _) in rows.prefix(13) {
                        let own = QueryPredicate.compare(.path("SELF"), .equal, .value(.int(key)))
                        let (store, above) = outcomes(scratch, output(aggregate, ObjectRequest("Thing", where: own)))
                        check.isTrue(store.isNear(above), "\(function.rawValue) of \(name) of \(key): \(store) is \(above)")
                        let isKnown = QueryPredicate.compare(aggregate, .notEqual, .value(.null))
                        let condition = outcomes(scratch, ObjectRequest("Thing", where: .and([own, isKnown])))
                        check.equal(condition.store, condition.above, "\(function.rawValue) of \(name) of \(key) is not nil")
                        if case .rows = above { succeeding.append(.int(key)) }
                    }
                    let some = QueryPredicate.isIn(.path("SELF"), succeeding)
                    let order = outcomes(scratch, ObjectRequest("Thing", where: some, orderBy: [OrderTerm(aggregate, ascending: true)]))
                    check.equal(order.store, order.above, "the order by \(function.rawValue) of \(name)")
                    let condition = QueryPredicate.compare(aggregate, .greater, .value(.int(1)))
                    let (store, above) = outcomes(scratch, ObjectRequest("Thing", where: .and([some, condition])))
                    check.equal(store, above, "\(function.rawValue) of \(name) is above 1")
                }
            }
        }
    }
}
