internal import Foundation
internal import PolystoreStorage

/// Cases of group P: each predicate unchanged, negated, on a joined key path, negated there, and filtered above the store.
enum PredicateCases {
    /// A predicate with the keys of the fixture's things for which it is true, determined by hand, and whether it is true of nil.
    struct Fact: Sendable {
        let id: String
        let predicate: @Sendable (String) throws -> QueryPredicate
        let keys: [Int64]
        let holdsOfNil: Bool

        init(
            _ id: String, _ keys: [Int64], ofNil holdsOfNil: Bool = false,
            _ predicate: @escaping @Sendable (String) throws -> QueryPredicate
        ) {
            self.id = id
            self.predicate = predicate
            self.keys = keys
            self.holdsOfNil = holdsOfNil
        }
    }

    static let all: [ConformanceCase] = facts.flatMap(cases) + [relatedRows, normalForms]

    /// The first request must not determine the answer of the second: the texts are equal in Swift, but not in a store.
    private static let normalForms = ConformanceCase("P042.needles-of-two-normal-forms", clause: "V3") { harness, check in
        let forms = [(Fixture.composed, Int64(6)), (Fixture.decomposed, Int64(7))]
        let matches: [(TextMatch, (String) -> String)] = [
            (.contains, { String($0.suffix(1)) }), (.beginsWith, { $0 }), (.endsWith, { String($0.suffix(1)) }),
            (.like, { "*" + $0.suffix(1) }), (.matches, { ".*" + $0.suffix(1) }),
        ]
        try harness.withFixture { scratch in
            for (match, needle) in matches {
                for (index, order) in [forms, forms.reversed(), forms].enumerated() {
                    for (text, key) in order {
                        let conditions: [QueryPredicate] = [
                            .text(path("text"), match, needle(text)), .text(.function(.lowercase, [path("text")]), match, needle(text)),
                        ]
                        for condition in conditions {
                            check.equal(try scratch.keys(ObjectRequest("Thing", where: condition)), [key], "\(match), round \(index)")
                        }
                    }
                }
            }
        }
    }

    private static let relatedRows = ConformanceCase(
        "P041.related-rows-are-read-together", clause: "S3"
    ) { harness, check in
        try harness.withFixture { scratch in
            let condition = QueryPredicate.compare(.path("thing.parent.number"), .equal, .value(.int(2)))
            let plan = try ObjectRequest("Holder", where: condition).plan(in: scratch.schema)
            try scratch.read { session in
                let reader = NoPushdown(session.reader)
                let rows = try scratch.rows(session.through { _ in reader }.cursor(for: plan))
                check.equal(rows.map(\.key), [105, 106], "keys")
                // A store may return any number of rows at a time, even one by one. Each batch requires one lookup for each step.
                check.isTrue(reader.batches > 0, "batches were counted")
                check.isTrue(reader.lookUps <= 2 * reader.batches, "one for the things and one for their parents")
            }
        }
    }

    /// The clause that a fact tests, by its group; a group that is missing here cites no clause, which the test of the contract reports.
    private static func clause(of fact: Fact) -> String {
        switch fact.id.prefix(4) {
        case "P001"..."P007", "P010"..."P016": "N1"
        case "P008", "P009", "P037": "Q1"
        case "P017", "P018", "P025": "T1"
        case "P019": "T3"
        case "P020"..."P022": "T2"
        case "P023": "V3"
        case "P026": "Q2"
        case "P027": "Q3"
        case "P028", "P029": "Q9"
        case "P032", "P033": "Q8"
        case "P034": "R9"
        case "P041": "T4"
        default: ""
        }
    }

    private static func cases(_ fact: Fact) -> [ConformanceCase] {
        let rest = (1...8).filter { !fact.keys.contains($0) }
        let joined = fact.keys.map { $0 + 100 } + (fact.holdsOfNil ? [109] : [])
        let joinedRest = (101...109).filter { !joined.contains($0) }
        func make(_ suffix: String, _ entity: String, _ prefix: String, _ expected: [Int64], negated: Bool) -> ConformanceCase {
            ConformanceCase("\(fact.id)\(suffix)", clause: clause(of: fact)) { harness, check in
                try harness.withFixture { scratch in
                    let predicate = try negated ? .not(fact.predicate(prefix)) : fact.predicate(prefix)
                    check.equal(try scratch.keys(ObjectRequest(entity, where: predicate)), expected, "keys")
                    check.equal(ReferenceStore.fixture.keys(ObjectRequest(entity, where: predicate)), expected, "keys of the reference")
                }
            }
        }
        return [
            make("", "Thing", "", fact.keys, negated: false), make("-negated", "Thing", "", rest, negated: true),
            make("-joined", "Holder", "thing.", joined, negated: false),
            make("-joined-negated", "Holder", "thing.", joinedRest, negated: true),
            residual(fact),
        ]
    }

    /// Returns a case that expects the same answer if no part of the condition is given to the store.
    private static func residual(_ fact: Fact) -> ConformanceCase {
        ConformanceCase("\(fact.id)-without-pushdown", clause: "Q13") { harness, check in
            try harness.withFixture { scratch in
                let plan = try ObjectRequest("Thing", where: try fact.predicate("")).plan(in: scratch.schema)
                let rows = try scratch.read { reader in
                    try scratch.rows(reader.through(NoPushdown.init).cursor(for: plan))
                }
                check.equal(rows.map(\.key), fact.keys, "keys")
            }
        }
    }

    private static func path(_ name: String) -> QueryExpression { .path(PropertyPath(name)) }
    private static func decimal(_ text: String) -> Value { Decimal(string: text).map(Value.decimal) ?? .null }
    private static func number(_ comparison: Comparison, _ value: Value) -> @Sendable (String) -> QueryPredicate {
        { .compare(path($0 + "number"), comparison, .value(value)) }
    }
    private static func compare(_ name: String, _ comparison: Comparison, _ value: Value) -> @Sendable (String) -> QueryPredicate {
        { .compare(path($0 + name), comparison, .value(value)) }
    }
    private static func text(_ match: TextMatch, _ needle: String) -> @Sendable (String) -> QueryPredicate {
        { .text(path($0 + "text"), match, needle) }
    }

    static let facts: [Fact] = comparisons + nils + numbers + decimals + lists + texts + logic + PredicateFacts.all + SearchFacts.all

    private static let comparisons = [
        Fact("P001.int-equal", [2, 5], number(.equal, .int(2))),
        Fact("P001.int-not-equal-includes-nil", [1, 3, 4, 6, 7, 8], ofNil: true, number(.notEqual, .int(2))),
        Fact("P001.bool-equal", [1, 4, 7], compare("flag", .equal, .bool(true))),
        Fact("P001.bool-not-equal-includes-nil", [2, 3, 5, 6, 8], ofNil: true, compare("flag", .notEqual, .bool(true))),
        Fact("P001.text-equal", [1], compare("text", .equal, .string("apple"))),
        Fact("P001.empty-text-is-not-nil", [4], compare("text", .equal, .string(""))),
        Fact("P001.double-equal-zero", [4], compare("real", .equal, .double(-0.0))),
        Fact("P005.int-less", [1, 4, 7], number(.less, .int(2))),
        Fact("P005.int-less-or-equal", [1, 2, 4, 5, 7], number(.lessOrEqual, .int(2))),
        Fact("P005.int-greater", [6, 8], number(.greater, .int(2))),
        Fact("P005.int-greater-or-equal", [2, 5, 6, 8], number(.greaterOrEqual, .int(2))),
        Fact("P005.text-less-by-bytes", [1, 2, 4, 5, 8], compare("text", .less, .string("b"))),
        Fact("P005.bool-less", [2, 6], compare("flag", .less, .bool(true))),
        Fact("P007.infinity-equal", [6], compare("real", .equal, .double(.infinity))),
        Fact("P007.below-infinity", [1, 3, 4, 5, 7, 8], compare("real", .less, .double(.infinity))),
        Fact("P007.minus-infinity", [7], compare("real", .lessOrEqual, .double(-.infinity))),
        Fact("P034.own-key", [3], compare("SELF", .equal, .int(3))),
        Fact("P034.own-key-greater", [7, 8], compare("SELF", .greater, .int(6))),
    ]

    private static let nils = [
        Fact("P002.equal-nil", [3], ofNil: true, number(.equal, .null)),
        Fact("P002.not-equal-nil", [1, 2, 4, 5, 6, 7, 8], number(.notEqual, .null)),
        Fact("P003.less-than-nil-is-false", [], number(.less, .null)),
        Fact("P003.greater-or-equal-nil-is-false", [], number(.greaterOrEqual, .null)),
        Fact("P003.not-greater-includes-nil", [1, 2, 3, 4, 5, 7], ofNil: true) {
            .not(.compare(path($0 + "number"), .greater, .value(.int(5))))
        },
    ]

    private static let numbers = [
        Fact("P008.int-below-fraction", [1, 2, 4, 5, 7], number(.less, .double(2.5))),
        Fact("P008.int-equals-no-fraction", [], number(.equal, .double(2.5))),
        Fact("P008.int-differs-from-fraction", [1, 2, 3, 4, 5, 6, 7, 8], ofNil: true, number(.notEqual, .double(2.5))),
        Fact("P008.int-above-two-to-the-53", [6, 8], number(.greater, .double(9_007_199_254_740_992))),
        Fact("P008.int-is-not-two-to-the-53", [], number(.equal, .double(9_007_199_254_740_992))),
        Fact("P008.int-above-all-doubles", [], number(.greaterOrEqual, .double(1e30))),
        Fact("P008.int-below-huge-double", [1, 2, 4, 5, 6, 7, 8], number(.less, .double(1e30))),
        Fact("P008.double-equals-int", [], compare("real", .equal, .int(2))),
        Fact("P008.double-above-int", [5, 6, 8], compare("real", .greater, .int(2))),
        Fact("P008.double-below-unrepresentable-int", [1, 3, 4, 7, 8], compare("real", .less, .int(9_007_199_254_740_993))),
        Fact("P037.int-above-double-of-the-row", [7, 8]) { .compare(path($0 + "number"), .greater, path($0 + "real")) },
        Fact("P037.two-nils-are-equal", [], ofNil: true) { .compare(path($0 + "number"), .equal, path($0 + "real")) },
        Fact("P037.text-and-url", [3], ofNil: true) { .compare(path($0 + "text"), .equal, path($0 + "link")) },
    ]

    private static let decimals = [
        Fact("P009.decimal-equal-ignores-trailing-zeros", [1, 2], compare("price", .equal, decimal("1.1"))),
        Fact("P009.decimal-above-int", [1, 2, 5], compare("price", .greater, .int(1))),
        Fact("P009.decimal-equals-int", [6], compare("price", .equal, .int(0))),
        Fact("P009.decimal-below-zero", [4], compare("price", .less, .int(0))),
        Fact("P009.decimal-is-not-a-binary-fraction", [], compare("price", .equal, .double(1.1))),
        Fact("P009.decimal-below-a-huge-double", [1, 2, 4, 5, 6, 8], compare("price", .less, .double(1e300))),
        Fact("P009.decimal-above-a-huge-double", [], compare("price", .greater, .double(1e300))),
        Fact("P009.decimal-above-minus-a-huge-double", [1, 2, 4, 5, 6, 8], compare("price", .greater, .double(-1e300))),
        Fact("P009.decimal-above-a-tiny-double", [1, 2, 5, 8], compare("price", .greater, .double(1e-200))),
        Fact("P009.decimal-below-a-tiny-double", [4, 6], compare("price", .less, .double(1e-200))),
        Fact("P009.decimal-at-least-minus-a-tiny-double", [1, 2, 5, 6, 8], compare("price", .greaterOrEqual, .double(-1e-200))),
        Fact("P009.decimal-at-most-minus-a-tiny-double", [4], compare("price", .lessOrEqual, .double(-1e-200))),
        Fact("P009.decimal-38-digits", [5], compare("price", .equal, decimal("12345678901234567890123456789012345678"))),
        Fact("P009.decimal-small", [8]) { .between(path($0 + "price"), .value(decimal("0.00000001")), .value(decimal("0.0000002"))) },
    ]

    private static let lists = [
        Fact("P010.between", [1, 2, 5]) { .between(path($0 + "number"), .value(.int(1)), .value(.int(2))) },
        Fact("P010.between-of-nothing", []) { .between(path($0 + "number"), .value(.int(2)), .value(.int(1))) },
        Fact("P011.in-list", [2, 4, 5]) { .isIn(path($0 + "number"), [.int(2), .int(-7)]) },
        Fact("P011.in-empty-list", []) { .isIn(path($0 + "number"), []) },
        Fact("P011.in-list-with-nil", [1, 3], ofNil: true) { .isIn(path($0 + "number"), [.null, .int(1)]) },
        Fact("P011.in-list-of-texts", [2, 8]) {
            .isIn(path($0 + "text"), [.string("Banana"), .string("apple pie"), .string("APPLE")])
        },
        Fact("P011.in-list-of-70000", [2, 5]) { .isIn(path($0 + "number"), (2..<70_002).map { .int(Int64($0)) }) },
    ]

    private static let texts = [
        Fact("P017.begins-with", [1, 8], text(.beginsWith, "apple")),
        Fact("P017.ends-with", [1, 8], text(.endsWith, "e")),
        Fact("P017.contains", [2], text(.contains, "an")),
        Fact("P017.contains-percent-underscore", [5], text(.contains, "%_")),
        Fact("P017.contains-backslash", [5], text(.contains, "\\x")),
        Fact("P017.begins-with-percent-is-no-pattern", [], text(.beginsWith, "%")),
        Fact("P017.quote-is-no-syntax", [], text(.contains, "'; --\"")),
        Fact("P017.case-counts", [], text(.beginsWith, "APPLE")),
        Fact("P029.equal-to-a-text-with-u0000", [], compare("text", .equal, .string("apple\0"))),
        Fact(
            "P029.not-equal-to-a-text-with-u0000", [1, 2, 3, 4, 5, 6, 7, 8], ofNil: true, compare("text", .notEqual, .string("apple\0"))),
        Fact("P029.below-a-text-with-u0000", [1, 2, 4, 5], compare("text", .less, .string("apple\0pie"))),
        Fact("P029.at-least-a-text-with-u0000", [6, 7, 8], compare("text", .greaterOrEqual, .string("apple\0"))),
        Fact("P029.in-texts-with-u0000", [2]) { .isIn(path($0 + "text"), [.string("apple\0"), .string("Banana")]) },
        Fact("P019.contains-nothing-is-not-nil", [1, 2, 4, 5, 6, 7, 8], text(.contains, "")),
        Fact("P023.composed-is-not-decomposed", [6], compare("text", .equal, .string(Fixture.composed))),
        Fact("P023.decomposed-is-not-composed", [7], compare("text", .equal, .string(Fixture.decomposed))),
        Fact("P023.begins-with-part-of-a-grapheme", [7], text(.beginsWith, "cafe")),
    ]

    private static let logic = [
        Fact("P012.and", [2]) {
            .and([.compare(path($0 + "number"), .equal, .value(.int(2))), .compare(path($0 + "flag"), .equal, .value(.bool(false)))])
        },
        Fact("P012.or-with-nil", [2, 3, 5], ofNil: true) {
            .or([.compare(path($0 + "number"), .equal, .value(.int(2))), .compare(path($0 + "text"), .equal, .value(.null))])
        },
        Fact("P013.empty-and", [1, 2, 3, 4, 5, 6, 7, 8], ofNil: true) { _ in .and([]) },
        Fact("P013.empty-or", []) { _ in .or([]) },
        Fact("P014.de-morgan", [1, 4, 7]) {
            .not(.or([.not(.compare(path($0 + "number"), .less, .value(.int(2)))), .compare(path($0 + "number"), .equal, .value(.null))]))
        },
        Fact("P014.double-negation", [2, 5]) { .not(.not(.compare(path($0 + "number"), .equal, .value(.int(2))))) },
        Fact("P015.depth-400", [2, 5]) { prefix in
            (0..<200).reduce(QueryPredicate.compare(path(prefix + "number"), .equal, .value(.int(2)))) { inner, level in
                level % 2 == 0 ? .and([.constant(true), .not(inner)]) : .or([.constant(false), .not(inner)])
            }
        },
    ]
}
