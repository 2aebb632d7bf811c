internal import Foundation
internal import PolystoreStorage

/// Cases of group A: aggregates and groups.
enum AggregateCases {
    private static func decimal(_ text: String) -> Value { Decimal(string: text).map(Value.decimal) ?? .null }

    private static func fact(
        _ id: String, _ clause: String, _ function: AggregateFunction, _ path: String?, _ expected: Value, entity: String = "Thing",
        where predicate: QueryPredicate? = nil
    ) -> ConformanceCase {
        ConformanceCase(id, clause: clause) { harness, check in
            try harness.withFixture { scratch in
                let found = try scratch.aggregate(entity, function, path, where: predicate)
                check.isTrue(near(found, expected), "\(function.rawValue): expected \(expected), found \(found)")
            }
        }
    }

    /// Whether two values are equal; doubles may differ by a relative 1e-12.
    static func near(_ a: Value, _ b: Value) -> Bool {
        guard case .double(let x) = a, case .double(let y) = b else { return a == b }
        return x == y || abs(x - y) <= 1e-12 * max(abs(x), abs(y))
    }

    private static let none = QueryPredicate.compare(.path("number"), .equal, .value(.int(424_242)))
    private static let small = QueryPredicate.between(.path("number"), .value(.int(-10)), .value(.int(10)))
    private static let finite = QueryPredicate.between(.path("real"), .value(.double(-10)), .value(.double(10)))

    static let all: [ConformanceCase] = facts + empty + overflow + decimals + groups

    private static let facts = [
        fact("A001.count", "Q4", .count, nil, .int(8)),
        fact("A001.count-filtered", "Q4", .count, nil, .int(4), where: small),
        fact("A001.count-of-values-skips-nil", "Q4", .count, "number", .int(7)),
        fact("A001.count-distinct", "Q4", .countDistinct, "number", .int(6)),
        fact("A001.count-distinct-text-by-bytes", "Q4", .countDistinct, "text", .int(7)),
        fact("A001.count-distinct-decimal", "Q4", .countDistinct, "price", .int(5)),
        fact("A002.sum-of-ints", "Q4", .sum, "number", .int(-2), where: small),
        fact("A006.average-of-ints", "Q6", .average, "number", .double(-0.5), where: small),
        fact("A007.sum-of-decimals", "Q7", .sum, "price", decimal("1.7"), where: small.and("price", below: 100)),
        fact("A008.sum-of-doubles", "Q7", .sum, "real", .double(1.75), where: finite),
        fact("A008.average-of-doubles", "Q7", .average, "real", .double(0.4375), where: finite),
        fact("A009.maximum-infinity", "Q2", .maximum, "real", .double(.infinity)),
        fact("A009.minimum-infinity", "Q2", .minimum, "real", .double(-.infinity)),
        fact(
            "A009.sum-with-infinity", "Q2", .sum, "real", .double(.infinity), where: .compare(.path("real"), .greater, .value(.double(0)))),
        fact("A010.minimum-int", "Q4", .minimum, "number", .int(.min)),
        fact("A010.maximum-int", "Q4", .maximum, "number", .int(.max)),
        fact("A010.minimum-text", "Q4", .minimum, "text", .string("")),
        fact("A010.maximum-text", "Q4", .maximum, "text", .string(Fixture.composed)),
        fact("A010.maximum-bool", "Q4", .maximum, "flag", .bool(true)),
        fact("A010.minimum-bool", "Q4", .minimum, "flag", .bool(false)),
        fact("A010.minimum-decimal", "Q4", .minimum, "price", decimal("-0.5")),
        fact(
            "A013.over-a-relationship", "Q8", .sum, "thing.number", .int(-2), entity: "Holder",
            where: .between(.path("thing.number"), .value(.int(-10)), .value(.int(10)))),
        fact("A013.maximum-over-a-relationship", "Q8", .maximum, "thing.text", .string(Fixture.composed), entity: "Holder"),
    ]

    private static let empty = [
        fact("A002.sum-of-nothing-int", "Q4", .sum, "number", .int(0), where: none),
        fact("A002.sum-of-nothing-double", "Q4", .sum, "real", .double(0), where: none),
        fact("A002.sum-of-nothing-decimal", "Q4", .sum, "price", .decimal(0), where: none),
        fact("A003.average-of-nothing", "Q4", .average, "number", .null, where: none),
        fact("A003.minimum-of-nothing", "Q4", .minimum, "text", .null, where: none),
        fact("A003.maximum-of-nothing", "Q4", .maximum, "real", .null, where: none),
        fact("A001.count-of-nothing", "Q4", .count, nil, .int(0), where: none),
        fact("A004.sum-of-nil-only", "Q4", .sum, "small", .int(0)),
        fact("A004.minimum-of-nil-only", "Q4", .minimum, "at", .null),
    ]

    private static let overflow = [
        ConformanceCase("A005.sum-overflows", clause: "Q2") { harness, check in
            try harness.withStore { scratch in
                try scratch.insert("Thing", [["number": .int(.max)], ["number": .int(1)]])
                check.throwing(.arithmeticOverflow, "sum") { _ = try scratch.aggregate("Thing", .sum, "number") }
                check.equal(try scratch.aggregate("Thing", .average, "number"), .double(4_611_686_018_427_387_904), "average")
            }
        },
        ConformanceCase("A005.sum-overflows-only-on-the-way", clause: "Q2") { harness, check in
            try harness.withStore { scratch in
                try scratch.insert("Thing", [["number": .int(.max)], ["number": .int(1)], ["number": .int(-5)]])
                check.equal(try scratch.aggregate("Thing", .sum, "number"), .int(.max - 4), "sum")
            }
        },
        ConformanceCase("A008.small-doubles-between-large-ones-count", clause: "Q7") { harness, check in
            try harness.withStore { scratch in
                try scratch.insert("Thing", [1e16, 1, -1e16].map { ["real": .double($0)] })
                check.equal(try scratch.aggregate("Thing", .sum, "real"), .double(1), "sum")
                check.equal(try scratch.aggregate("Thing", .average, "real"), .double(1.0 / 3), "average")
            }
        },
        ConformanceCase("A009.infinities-cancel-to-no-number", clause: "Q2") { harness, check in
            try harness.withStore { scratch in
                try scratch.insert("Thing", [["real": .double(.infinity)], ["real": .double(-.infinity)]])
                check.throwing(.arithmeticOverflow, "sum") { _ = try scratch.aggregate("Thing", .sum, "real") }
            }
        },
        ConformanceCase("A009.doubles-overflow", clause: "Q2") { harness, check in
            try harness.withStore { scratch in
                try scratch.insert("Thing", [["real": .double(1.7e308)], ["real": .double(1.7e308)]])
                check.throwing(.arithmeticOverflow, "sum") { _ = try scratch.aggregate("Thing", .sum, "real") }
            }
        },
        ConformanceCase("A007.ten-thousand-tenths", clause: "Q7") { harness, check in
            try harness.withStore { scratch in
                try scratch.insert("Thing", (0..<10_000).map { _ in ["price": decimal("0.1")] })
                check.equal(try scratch.aggregate("Thing", .sum, "price"), decimal("1000"), "sum")
                check.equal(try scratch.aggregate("Thing", .average, "price"), decimal("0.1"), "average")
            }
        },
    ]

    /// Returns a case for the aggregates of loaded prices.
    private static func decimals(
        _ id: String, _ prices: [String], sum: String? = nil, average: String? = nil, median: String? = nil
    ) -> ConformanceCase {
        ConformanceCase(id, clause: "Q7") { harness, check in
            try harness.withStore { scratch in
                try scratch.insert("Thing", prices.map { ["price": decimal($0)] })
                for (function, expected) in [(AggregateFunction.sum, sum), (.average, average), (.median, median)] {
                    guard let expected else {
                        check.throwing(.arithmeticOverflow, function.rawValue) { _ = try scratch.aggregate("Thing", function, "price") }
                        continue
                    }
                    check.equal(try scratch.aggregate("Thing", function, "price"), decimal(expected), function.rawValue)
                }
            }
        }
    }

    private static let nines = String(repeating: "9", count: 38), thirds = String(repeating: "3", count: 38)

    private static let decimals = [
        decimals(
            "A029.decimals-near-the-least-exponent", ["1e-95", "2e-95", "4e-95"], sum: "7e-95",
            average: "2.333333333333333333333333333333333e-95", median: "2e-95"),
        decimals(
            "A029.decimals-of-the-least-exponent", ["1e-128", "2e-128", "-1e-128", "5e-128"], sum: "7e-128", average: "2e-128",
            median: "2e-128"),
        decimals(
            "A030.only-the-final-total-of-decimals-counts", ["1e30", "1e-30", "-1e30"], sum: "1e-30", average: thirds + "e-68",
            median: "1e-30"),
        decimals("A030.a-total-of-38-digits", [nines, nines, "-" + nines], sum: nines, average: thirds, median: nines),
        decimals("A030.a-total-of-more-digits", [nines, nines, nines, nines], median: nines),
    ]

    private static let groups = [
        ConformanceCase("A011.group-by-one-key-nil-is-a-group", clause: "Q5") { harness, check in
            try harness.withFixture { scratch in
                let request = QueryRequest(
                    ObjectRequest("Thing"),
                    outputs: [.property("flag"), .aggregate(Aggregate(.count)), .aggregate(Aggregate(.minimum, "text"))], groupBy: ["flag"])
                check.equal(
                    try scratch.query(request),
                    [
                        [.null, .int(3), .string("50%_off\\x")], [.bool(false), .int(2), .string("Banana")],
                        [.bool(true), .int(3), .string("")],
                    ], "groups")
            }
        },
        ConformanceCase("A011.group-by-two-keys", clause: "Q5") { harness, check in
            try harness.withStore { scratch in
                try scratch.load(
                    "Pair",
                    [
                        (1, ["first": .int(1), "second": .string("a")]), (2, ["first": .int(1), "second": .string("b")]),
                        (3, ["second": .string("a")]), (4, ["second": .string("a")]),
                    ])
                let request = QueryRequest(
                    ObjectRequest("Pair", orderBy: [OrderTerm("second", ascending: false)]),
                    outputs: [.property("first"), .property("second"), .aggregate(Aggregate(.count))], groupBy: ["first", "second"])
                check.equal(
                    try scratch.query(request),
                    [[.int(1), .string("b"), .int(1)], [.null, .string("a"), .int(2)], [.int(1), .string("a"), .int(1)]], "groups")
            }
        },
        ConformanceCase("A013.group-by-a-relationship", clause: "Q8") { harness, check in
            try harness.withFixture { scratch in
                let request = QueryRequest(
                    ObjectRequest("Holder"), outputs: [.property("thing.flag"), .aggregate(Aggregate(.count))], groupBy: ["thing.flag"])
                check.equal(try scratch.query(request), [[.null, .int(4)], [.bool(false), .int(2)], [.bool(true), .int(3)]], "groups")
            }
        },
        ConformanceCase("A018.limit-on-groups", clause: "Q5") { harness, check in
            try harness.withFixture { scratch in
                let fetch = ObjectRequest("Thing", orderBy: [OrderTerm("flag", ascending: false)], limit: 1, offset: 1)
                let request = QueryRequest(fetch, outputs: [.property("flag"), .aggregate(Aggregate(.count))], groupBy: ["flag"])
                check.equal(try scratch.query(request), [[.bool(false), .int(2)]], "groups")
            }
        },
        ConformanceCase("A021.plain-property-beside-an-aggregate", clause: "Q5") { harness, check in
            try harness.withStore { scratch in
                let request = QueryRequest(ObjectRequest("Thing"), outputs: [.property("text"), .aggregate(Aggregate(.count))])
                do throws(QueryError) {
                    _ = try request.plan(in: scratch.schema)
                    check.isTrue(false, "the request is refused")
                } catch {
                    check.equal(error.path, "text", "the property that is named")
                }
            }
        },
        ConformanceCase("A022.projection", clause: "Q9") { harness, check in
            try harness.withFixture { scratch in
                let fetch = ObjectRequest("Holder", orderBy: [OrderTerm("thing.number", ascending: false)], limit: 2)
                let request = QueryRequest(fetch, outputs: [.property("label"), .property("thing.text")])
                check.equal(
                    try scratch.query(request), [[.string("h8"), .string("apple pie")], [.string("h6"), .string(Fixture.composed)]], "rows")
            }
        },
    ]
}

extension QueryPredicate {
    fileprivate func and(_ path: PropertyPath, below limit: Int64) -> QueryPredicate {
        self && .compare(.path(path), .less, .value(.int(limit)))
    }
}
