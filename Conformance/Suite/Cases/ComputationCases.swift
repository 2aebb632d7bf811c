internal import Foundation
internal import PolystoreStorage

/// Cases of group P about conditions, orders and values that stores compute only in part, or not at all.
enum ComputationCases {
    static let all: [ConformanceCase] = [marks, nesting, conditions, outputs]

    private static func predicate(_ text: String) throws -> QueryPredicate { try QueryPredicate(parsing: text) }

    /// Checks the keys that a condition finds in each kind of request, in the store and above it.
    private static func check(_ text: String, _ keys: [Int64], _ scratch: Scratch, _ check: Check) throws {
        let condition = try predicate(text), fetch = ObjectRequest("Thing", where: condition), plan = try fetch.plan(in: scratch.schema)
        check.equal(try scratch.keys(fetch), keys, text)
        let above = try scratch.read { try scratch.rows($0.through(NoPushdown.init).cursor(for: plan)).map(\.key) }
        check.equal(above, keys, "\(text) above the store")
        let backwards = ObjectRequest("Thing", where: condition, orderBy: [OrderTerm("SELF", ascending: false)], limit: 9)
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

    /// An expression nested in itself, with its values for the three things of the case, and an attribute of its type.
    private struct Nested {
        let text: String
        let values: [Value]
        var attribute = "number"
    }

    private static func nested(_ count: Int) -> [Nested] {
        func nested(_ start: String, _ values: [Value], _ attribute: String = "number", _ step: (String) -> String) -> Nested {
            Nested(text: (0..<count).reduce(start) { text, _ in step(text) }, values: values, attribute: attribute)
        }
        let total = Int64(count), letters = Value.string(String(repeating: "b", count: count) + (count > 0 ? "a" : "A"))
        let sums: [Value] = [.int(1 + total), .int(5 + total), .null], small = Array(repeating: Value.int(1 + total), count: 3)
        let numbers: [Value] = [.int(1), .int(5), .null], letter: [Value] = [.string("A"), .string("A"), .null]
        return [
            nested("number", sums) { "(\($0) + small)" }, nested("number", sums) { "(small + \($0))" },
            nested("small", small) { "(small + \($0))" }, nested("number", numbers) { "(\($0) * small)" },
            nested("number", numbers) { "TERNARY(number / small > 3, 5, \($0))" },
            nested("number", numbers) { "TERNARY(\($0) > 3, 5, number / small)" },
            nested("text", [letters, letters, .null], "text") { "concatenate('b', lowercase(\($0)))" },
            nested("text", letter, "text") { "coalesce(trim(\($0)), text)" },
        ]
    }

    /// Conditions nested in themselves, with the keys of the things that satisfy them.
    private static func nestedConditions(_ count: Int) -> [(String, [Int64])] {
        var computed = "number * small > 3", plain = "number > 3", related = "$v0.number * $v0.small > 3", counted = "$v0.number > 3"
        for level in 0..<count {
            computed = "((\(computed) OR number + small == \(100 + level)) AND number * small < 100)"
            plain = "((\(plain) OR number == \(100 + level)) AND small == 1)"
        }
        func around(_ condition: String, _ levels: Int) -> String {
            var condition = condition
            for level in 0..<levels {
                let path = level == levels - 1 ? "children" : "$v\(level + 1).children"
                condition = "SUBQUERY(\(path), $v\(level), \(condition)).@count == 0"
            }
            return condition
        }
        let levels = min(max(count, 1), 20)
        (related, counted) = (around(related, levels), around(counted, levels))
        return [(computed, [2]), (plain, [2]), (related, [2, 3]), (counted, [2, 3])]
    }

    private static let nesting = ConformanceCase("P080.deeply-nested-expressions", clause: "Q9") { harness, check in
        try harness.withStore { scratch in
            try scratch.load(
                "Thing",
                [
                    (1, ["number": .int(1), "small": .int(1), "text": .string("A")]),
                    (2, ["number": .int(5), "small": .int(1), "text": .string("A"), "parent": .int(1)]), (3, ["small": .int(1)]),
                ])
            let thing = try scratch.entity("Thing"), all = try ObjectRequest("Thing").plan(in: scratch.schema)
            for count in Array(0...16) + [18, 20, 24, 32, 48] {
                for part in nested(count) {
                    let expression = try QueryExpression(parsing: part.text), what = "\(part.text.prefix(60))… of \(count) levels"
                    let request = QueryRequest(ObjectRequest("Thing"), outputs: [QueryOutput(expression, as: "value")])
                    check.equal(try scratch.query(request), part.values.map { [$0] }, what)
                    let known = ObjectRequest("Thing", where: .compare(expression, .equal, .value(part.values[1])))
                    let keys = part.values.indices.filter { part.values[$0] == part.values[1] }.map { Int64($0 + 1) }
                    check.equal(try scratch.keys(known), keys, "the condition \(what)")
                    let terms = [OrderTerm(expression, ascending: false), OrderTerm("SELF", ascending: false)]
                    let order = ObjectRequest("Thing", orderBy: terms)
                    check.equal(try scratch.keys(order), part.values[2].isNull ? [2, 1, 3] : [3, 2, 1], "the order by \(what)")
                    let most = QueryOutput.aggregate(Aggregate(.maximum, of: expression), as: "most")
                    let greatest = try scratch.query(QueryRequest(ObjectRequest("Thing"), outputs: [most]))
                    check.equal(greatest, [[part.values[1]]], "the greatest \(what)")
                    guard let slot = scratch.schema[thing].slot(part.attribute) else { continue }
                    guard case .rows(let outputs) = try request.plan(in: scratch.schema).kind else { continue }
                    guard outputs[0].type == scratch.schema[thing].slots[slot].type else { continue }
                    let writer = try scratch.store.beginWrite(WriteOptions(timeout: 10))
                    defer { writer.end() }
                    guard try writer.updateAll(BatchUpdate(fetch: all, assignments: [(slot, outputs[0])])) != nil else { continue }
                    let written = try scratch.fetch(ObjectRequest("Thing"), writer).map { $0.values[part.attribute] ?? .null }
                    check.equal(written, part.values, "the new value \(what)")
                }
                for (text, keys) in nestedConditions(count) { try Self.check(text, keys, scratch, check) }
            }
        }
    }

    /// Four things. A division by `number` or `medium` fails for the first one, one by their predecessor for the second.
    private static func fill(_ scratch: Scratch) throws {
        try scratch.load(
            "Thing",
            (0..<4).map { (number: Int64) -> (Int64, [String: Value]) in
                let values: [String: Value] = [
                    "number": .int(number), "medium": .int(number), "price": .decimal(number == 0 ? 5 : 0),
                    "parent": number < 2 ? .null : .int(2),
                ]
                return (number + 1, values)
            })
    }

    private static let conditions = ConformanceCase("P081.what-cannot-fail-is-evaluated-first", clause: "Q2") { harness, check in
        try harness.withStore { scratch in
            try fill(scratch)
            // `number` has an index, `medium` has none, and not every store compares `price` with an integer.
            let facts: [(String, [Int64])] = [
                ("price < number AND 10 / number > 1", [2, 3, 4]), ("10 / number > 1 AND price < number", [2, 3, 4]),
                ("10 / number > 1 AND medium > 0", [2, 3, 4]), ("10 / medium > 1 AND number > 0", [2, 3, 4]),
                ("10 / number > 4 OR price > number", [1, 2, 3]), ("10 / number > 1 OR medium == 0", [1, 2, 3, 4]),
                ("NOT (10 / number < 4 OR medium == 0)", [2, 3]), ("(10 / number > 4 OR 10 / medium > 4) AND price == 0", [2, 3]),
                ("TERNARY(10 / number > 4 AND medium > 0, 1, 0) == 1", [2, 3]),
                ("SUBQUERY(children, $x, 10 / ($x.number - 2) > 4 AND $x.medium > 2).@count == 1", [2]),
                ("10 / parent.number > 0 AND 10 / medium > 1", [3, 4]),
                ("medium > 0 AND 10 / number < 10 AND 10 / (number - 1) > 5", [3]),
                ("price < number AND 10 / number < 10 AND 10 / (number - 1) > 5", [3]),
                ("(10 / number < 10 AND 10 / (number - 1) > 5 AND medium > 0) OR price == 77", [3]),
            ]
            for (text, keys) in facts { try Self.check(text, keys, scratch, check) }
            // Those that can fail are evaluated as they are written.
            for text in [
                "10 / number > 1", "10 / number > 1 OR price < number", "medium > 0 AND 10 / (number - 1) > 5 AND 10 / number < 10",
                "(medium > 0 AND 10 / (number - 1) > 5 AND 10 / number < 10) OR price == 77",
                "10 / medium > 1 AND 10 / parent.number > 0",
            ] {
                check.throwing(.divisionByZero, text) { _ = try scratch.keys(ObjectRequest("Thing", where: predicate(text))) }
                check.throwing(.divisionByZero, "the number of \(text)") {
                    let fetch = ObjectRequest("Thing", where: try predicate(text))
                    _ = try scratch.query(QueryRequest(fetch, outputs: [.aggregate(Aggregate(.count))]))
                }
            }
        }
    }

    private static let outputs = ConformanceCase("P082.only-what-is-found-is-ordered-and-computed", clause: "Q2") { harness, check in
        try harness.withStore { scratch in
            try fill(scratch)
            let quotient = try QueryExpression(parsing: "10 / number")
            for text in ["price < number", "medium > 0", "number > 0"] {
                let condition = try predicate(text)
                for (limit, keys) in [(nil, [4, 3, 2]), (2, [4, 3])] as [(Int?, [Int64])] {
                    let fetch = ObjectRequest("Thing", where: condition, orderBy: [OrderTerm(quotient, ascending: true)], limit: limit)
                    check.equal(try scratch.keys(fetch), keys, "the order of \(text)")
                }
                let values = QueryRequest(ObjectRequest("Thing", where: condition), outputs: [QueryOutput(quotient, as: "value")])
                check.equal(try scratch.query(values), [[.int(10)], [.int(5)], [.int(3)]], "values of \(text)")
                let total = QueryRequest(ObjectRequest("Thing", where: condition), outputs: [.aggregate(Aggregate(.sum, of: quotient))])
                check.equal(try scratch.query(total), [[.int(18)]], "the sum of \(text)")
            }
            let first = ObjectRequest("Thing", orderBy: [OrderTerm("medium", ascending: false)], limit: 3)
            let rest = ObjectRequest("Thing", orderBy: [OrderTerm("medium", ascending: true)], offset: 1)
            for (fetch, expected) in [(first, [3, 5, 10]), (rest, [10, 5, 3])] as [(ObjectRequest, [Int64])] {
                let values = QueryRequest(fetch, outputs: [QueryOutput(quotient, as: "value")])
                check.equal(try scratch.query(values), expected.map { [.int($0)] }, "values within a limit")
            }
            check.throwing(.divisionByZero, "values of all") {
                _ = try scratch.query(QueryRequest(ObjectRequest("Thing"), outputs: [QueryOutput(quotient, as: "value")]))
            }
        }
    }
}
