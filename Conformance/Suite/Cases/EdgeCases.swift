internal import Foundation
internal import Polystore
internal import PolystoreStorage

/// Cases of groups P, O and A about the limits of values, lists and lengths.
enum EdgeCases {
    static let all: [ConformanceCase] = predicates + orders + distinct + pending

    private static let texts = ["Z", "a", "\u{e9}", "\u{ffff}", "\u{1f600}"]

    private static func up(_ name: String) -> OrderTerm { OrderTerm(PropertyPath(name)) }
    private static func down(_ name: String) -> OrderTerm { OrderTerm(PropertyPath(name), ascending: false) }

    private static func load(_ scratch: Scratch, _ name: String, _ values: [Value]) throws {
        try scratch.load("Thing", values.enumerated().map { (Int64($0 + 1), [name: $1]) })
    }

    private static func decimal(_ text: String) -> Value { Decimal(string: text).map(Value.decimal) ?? .null }

    /// Computations with prices at the limits of the decimal range.
    private static let arithmetic = ConformanceCase("P068.decimals-at-the-ends-of-their-range", clause: "Q2") { harness, check in
        try harness.withStore { scratch in
            let whole = "12345678901234567890123456789012345678"
            try load(scratch, "price", ["1e-80", "1e-100", "4e-95", "-1e-128", whole].map(decimal))
            let price = QueryExpression.path("price")
            func found(_ function: Function, _ a: QueryExpression, _ b: QueryExpression, _ comparison: Comparison, _ text: String) throws
                -> [Int64]
            {
                let computed = QueryExpression.function(function, [a, b])
                return try scratch.keys(ObjectRequest("Thing", where: .compare(computed, comparison, .value(decimal(text)))))
            }
            check.equal(try found(.multiply, price, price, .equal, "0"), [1, 2, 3, 4], "squares below the least number are 0")
            check.equal(try found(.multiply, price, .value(decimal("1e-48")), .equal, "1e-128"), [1], "the least number")
            check.equal(try found(.multiply, price, .value(decimal("1.5")), .equal, "-2e-128"), [4], "the last place is rounded")
            check.equal(try found(.divide, price, .value(decimal("1e100")), .equal, "0"), [1, 2, 3, 4], "quotients below it are 0")
            check.equal(try found(.divide, price, .value(decimal("3")), .greater, "0"), [1, 2, 3, 5], "a third")
            let third = "1.333333333333333333333333333333333e-95"
            check.equal(try found(.divide, price, .value(decimal("3")), .equal, third), [3], "a third to the last place")
            check.equal(try found(.subtract, price, price, .equal, "0"), [1, 2, 3, 4, 5], "a difference")
            check.equal(try found(.modulo, price, .value(decimal("3e-128")), .equal, "1e-128"), [1, 2, 3], "the exact remainder")
            check.equal(try found(.modulo, .value(decimal("1e100")), price, .equal, "0"), [1, 2, 3, 4], "the remainder of a great number")
            check.equal(
                try found(.multiply, price, .value(decimal("1.1")), .equal, "13580246791358024679135802467913580246"), [5], "38 digits")
            check.throwing(.arithmeticOverflow, "a quotient above all numbers") {
                _ = try found(.divide, .value(decimal("1e100")), price, .greater, "0")
            }
            let order = OrderTerm(QueryExpression.function(.multiply, [price, price]), ascending: false)
            check.equal(try scratch.keys(ObjectRequest("Thing", orderBy: [order])), [5, 1, 2, 3, 4], "in the order of the squares")
        }
    }

    private static let predicates: [ConformanceCase] = [
        arithmetic,
        ConformanceCase("P006.nan-is-no-value", clause: "V2") { harness, check in
            try harness.withStore { scratch in
                let nan = Value.double(.nan)
                for predicate in [QueryPredicate.compare(.path("real"), .equal, .value(nan)), .isIn(.path("real"), [.double(1), nan])] {
                    do throws(QueryError) {
                        _ = try ObjectRequest("Thing", where: predicate).plan(in: scratch.schema)
                        check.isTrue(false, "\(predicate) is refused")
                    } catch {
                        check.isTrue("\(error)".contains("NaN"), "the reason is named")
                    }
                }
            }
        },
        ConformanceCase("P016.ten-thousand-terms", clause: "N1") { harness, check in
            try harness.withFixture { scratch in
                let equal = (0..<10_000).map { QueryPredicate.compare(.path("number"), .equal, .value(.int($0))) }
                check.equal(try scratch.keys(ObjectRequest("Thing", where: .or(equal))), [1, 2, 5], "any of them")
                let not = (3..<10_003).map { QueryPredicate.compare(.path("number"), .notEqual, .value(.int($0))) }
                check.equal(try scratch.keys(ObjectRequest("Thing", where: .and(not))), [1, 2, 3, 4, 5, 6, 7, 8], "none of them")
                // The conditions alternate between two properties, so that they cannot be combined into a list.
                let mixed = (0..<10_000).map { number in
                    QueryPredicate.compare(.path(number % 2 == 0 ? "number" : "real"), .greater, .value(.int(Int64(number))))
                }
                check.equal(try scratch.keys(ObjectRequest("Thing", where: .and(mixed))), [6], "greater than all")
                // More values than an engine accepts.
                let many = (0..<70_000).map { number in
                    QueryPredicate.compare(.path(number % 2 == 1 ? "number" : "real"), .equal, .value(.int(Int64(number) - 70_000)))
                }
                check.equal(try scratch.keys(ObjectRequest("Thing", where: .or(many))), [4], "any of very many")
            }
        },
        ConformanceCase("P024.texts-in-the-order-of-their-bytes", clause: "V3") { harness, check in
            try harness.withStore { scratch in
                try load(scratch, "text", texts.map(Value.string))
                for (position, text) in texts.enumerated() {
                    let keys = (1...5).map(Int64.init)
                    func found(_ comparison: Comparison) throws -> [Int64] {
                        try scratch.keys(ObjectRequest("Thing", where: .compare(.path("text"), comparison, .value(.string(text)))))
                    }
                    check.equal(try found(.less), Array(keys[..<position]), "below \(text)")
                    check.equal(try found(.greaterOrEqual), Array(keys[position...]), "from \(text) on")
                }
            }
        },
        ConformanceCase("P031.nil-on-the-way", clause: "N1") { harness, check in
            try harness.withFixture { scratch in
                func found(_ path: PropertyPath, _ comparison: Comparison, _ value: Value) throws -> [Int64] {
                    try scratch.keys(ObjectRequest("Holder", where: .compare(.path(path), comparison, .value(value))))
                }
                check.equal(try found("thing.parent.number", .equal, .int(1)), [102, 103, 104], "two steps")
                check.equal(try found("thing.parent.parent.number", .equal, .int(1)), [105, 106], "three steps")
                check.equal(try found("thing.parent.parent.number", .less, .int(9)), [105, 106], "nil is not smaller")
                check.equal(
                    try found("thing.parent.parent.number", .notEqual, .int(1)), [101, 102, 103, 104, 107, 108, 109], "nil differs")
                check.equal(try found("thing.parent.parent", .equal, .null), [101, 102, 103, 104, 107, 108, 109], "nil is nil")
            }
        },
        ConformanceCase("P045.printed-and-read-again", clause: "Q11") { harness, check in
            try harness.withFixture { scratch in
                // A program may nest deeper than a text; the excluded facts test that.
                for fact in PredicateCases.facts where !fact.id.hasPrefix("P015") {
                    let text = try fact.predicate("").description
                    let read = try QueryPredicate(parsing: text)
                    check.equal(read.description, text, "\(fact.id), printed again")
                    check.equal(try scratch.keys(ObjectRequest("Thing", where: read)), fact.keys, "keys of \(text)")
                }
            }
        },
    ]

    private static func order(_ id: String, _ clause: String, _ name: String, _ values: [Value]) -> ConformanceCase {
        ConformanceCase(id, clause: clause) { harness, check in
            try harness.withStore { scratch in
                try load(scratch, name, values)
                let keys = (1...values.count).map(Int64.init)
                check.equal(try scratch.keys(ObjectRequest("Thing", orderBy: [up(name)])), keys, "ascending")
                check.equal(try scratch.keys(ObjectRequest("Thing", orderBy: [down(name)])), keys.reversed(), "descending")
            }
        }
    }

    private static let orders: [ConformanceCase] = [
        order("P024.order-of-texts", "O2", "text", texts.map(Value.string)),
        order(
            "O007.data-by-bytes", "O2", "bytes",
            [
                .null, .data(Data()), .data(Data([0])), .data(Data([0, 0xff])), .data(Data([1])), .data(Data([0xff])),
                .data(Data([0xff, 0])),
            ]),
        order(
            "O007.uuid-by-bytes", "O2", "uid",
            [
                "00000000-0000-0000-0000-000000000000", "00000000-0000-0000-0000-0000000000FF", "00000000-0000-0001-0000-000000000000",
                "7FFFFFFF-0000-0000-0000-000000000000", "80000000-0000-0000-0000-000000000000", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF",
            ].map { UUID(uuidString: $0).map(Value.uuid) ?? .null }),
        ConformanceCase("O007.every-type", clause: "O2") { harness, check in
            let types = ValueType.allCases
            let every = Entity("Every", attributes: types.map { Attribute($0.rawValue, $0, isOptional: true) })
            try harness.withStore(Schema(entities: [every])) { scratch in
                for type in types {
                    let values = (ProgramValues(type).ordinary + ProgramValues(type).extreme).map { NaiveGraph.stored($0, type) }
                    let keys = try scratch.insert("Every", values.map { [type.rawValue: $0] })
                    let sorted = zip(keys, values).sorted { a, b in
                        let order = ReferenceStore.order(a.1, b.1)
                        return order == 0 ? a.0 < b.0 : order < 0
                    }
                    let request = ObjectRequest("Every", orderBy: [up(type.rawValue), up("SELF")])
                    check.equal(try scratch.keys(request).filter(Set(keys).contains), sorted.map(\.0), "\(type) in order")
                    try scratch.delete("Every", keys)
                }
            }
        },
        // The earliest possible date, a microsecond before 1970, then adjacent values.
        order("O010.dates", "O2", "at", [.date(-62_135_596_800_000_000), .date(-1), .date(0), .date(1), .date(1_700_000_000_000_000)]),
        .graph("O005.both-zeros-are-one", "V2, O2") { stack, check in
            try stack.write { transaction in
                for (name, score) in [("a", 0.0), ("b", -0.0), ("c", 0.0), ("d", -1.0)] {
                    let person = try transaction.create(Person.self)
                    (person.name, person.score) = (name, score)
                }
            }
            for isAscending in [true, false] {
                let order: OrderBy<Person> =
                    isAscending ? .init(.ascending(\.score), .ascending(\.name)) : .init(.descending(\.score), .ascending(\.name))
                let names = try stack.fetchAll(From<Person>().orderBy(order)).map(\.name)
                check.equal(names, isAscending ? ["d", "a", "b", "c"] : ["a", "b", "c", "d"], "ties by the next key")
            }
            check.equal(try stack.fetchCount(From<Person>().where(\.score == 0)), 3, "equal")
            check.equal(try stack.queryAttributes(From<Person>().select(.attribute(\.score)).distinct()).count, 2, "distinct")
        },
        .graph("O023.counts-are-cut-like-fetches", "O4") { stack, check in
            try stack.write { transaction in for index in 0..<7 { try transaction.create(Person.self).age = index } }
            for (limit, offset) in [(3, 0), (3, 5), (0, 0), (10, 2), (10, 9)] {
                let from = From<Person>().orderBy(.ascending(\.age)).limit(limit).offset(offset)
                let expected = max(0, min(limit, 7 - offset))
                check.equal(try stack.fetchCount(from), expected, "limit \(limit), offset \(offset)")
                check.equal(try stack.fetchAll(from).count, expected, "as many objects")
            }
        },
    ]

    private static let distinct: [ConformanceCase] = [
        ConformanceCase("O024.distinct-values", clause: "Q12") { harness, check in
            try harness.withStore { scratch in
                try load(
                    scratch, "text",
                    [.string(Fixture.composed), .null, .string(Fixture.decomposed), .string(Fixture.composed), .null, .string("")])
                let request = QueryRequest(ObjectRequest("Thing"), outputs: [.property("text")], isDistinct: true)
                let expected: [[Value]] = [[.null], [.string("")], [.string(Fixture.decomposed)], [.string(Fixture.composed)]]
                check.equal(try scratch.query(request), expected, "nil once; by bytes, so both forms of a text")
            }
        }
    ]

    private static let pending: [ConformanceCase] = [
        .graph("A017.pending-changes-both-ways", "W3") { stack, check in
            try stack.write { transaction in for age in [10, 20] { try transaction.create(Person.self).age = age } }
            try stack.write { transaction in
                try transaction.create(Person.self).age = 90
                // A fetch sends the pending changes to the store.
                check.equal(try transaction.fetchCount(From<Person>().where(\.age == 90)), 1, "flushed")
                let sum = From<Person>().select(Int.self, .sum(\.age))
                check.equal(try transaction.queryValue(sum), 30, "committed objects only")
                let all = From<Person>().includesPendingChanges(true).select(Int.self, .sum(\.age))
                check.equal(try transaction.queryValue(all), 120, "with pending changes")
                let groups = From<Person>().includesPendingChanges(true).where(\.age > 10)
                let rows = try transaction.queryAttributes(groups.select(.attribute(\.age), .count(as: "n")).groupBy(\.age))
                check.equal(rows.map(\.values), [[.int(20), .int(1)], [.int(90), .int(1)]], "groups with pending changes")
            }
            check.equal(try stack.queryValue(From<Person>().select(Int.self, .sum(\.age))), 120, "afterwards")
        }
    ]
}
