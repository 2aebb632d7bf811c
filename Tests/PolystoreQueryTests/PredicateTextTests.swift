import Foundation
import PolystoreQuery
import PolystoreSchema
import Testing

@Suite struct PredicateTextTests {
    @Test(arguments: [
        "age > 30", "name == \"a\\\"b\"", "x IN {1, 2.5, NIL}", "owner.name BEGINSWITH \"A\"", "a BETWEEN {1, 2}",
        "(a == 1) AND ((b == TRUE) OR (c != NIL))", "NOT (a < DATE \"2013-01-01T10:00:00Z\")", "p == DECIMAL \"1.5\"",
        "name ==[c] 'x'", "name BEGINSWITH[cd] 'x'", "name LIKE 'a*'", "name MATCHES[c] '[a-z]+'", "name IN[c] {'a', 'b'}",
        "ANY friends.age > 3", "ALL friends.age > 3 AND NONE friends.name == NIL", "SOME a.b.c == 1", "friends.@count > 3",
        "friends.@max.age >= age", "SUBQUERY(friends, $f, $f.age > 3 AND $f.name == 'x').@count == 1", "friends[SIZE] == 0",
        "SUBQUERY(friends, $f, SUBQUERY($f.pets, $p, $p.age == 1).@count > 0).@avg.age < 2", "price * 1.5 + 2 > -3", "-(a) < b - -5",
        "TERNARY(a == 1, b, c) == 2", "lowercase(name) == 'x'", "coalesce(a, b, 0) == 0", "year(born, 'Europe/Berlin') == 1990",
        "month(born) IN {1, 2}", "SELF ISA 'Dog'", "SELF.name == 'x'", "SELF == 5", "(a + b) * c == 3", "#size == 3", "#AND.#or == 1",
        "modulus(a, 2) == 1", "(a & 3) == (b | 1)", "x == 0x1F", "ANY friends SATISFIES (age > 3 OR name LIKE '?x')",
        "x BETWEEN {a, b + 1}", "'x' IN name", "SELF IN friends", "length(trim(name)) > 3", "folded[cd](name) < 'm'",
        "a == $N AND b IN $LIST AND c BETWEEN $RANGE AND d BEGINSWITH[c] $TEXT", "a IN {1, $N}", "a IN[c] {$M, $N}", "a IN {$N}",
        "x BETWEEN {$LOW, $HIGH}", "a + $N > TERNARY(b == $N, $M, 1)", "SUBQUERY(friends, $f, $f.age == $x1 AND $f.b == $xx2).@count == 1",
        "ANY friends.age > age", "ANY friends == best", "ANY friends.age > TERNARY(SELF == 5, age, friends.age)",
        "SUBQUERY(friends, $f, $f.age > age AND $f != SELF).@count > 0", "SUBQUERY(friends, $f, age > 3).@count > 0",
        "SUBQUERY(friends, $f, SUBQUERY($f.pets, $p, $p.age == $f.age AND name == $p.owner.name).@count > 0).@avg.age < 2",
        "ANY friends SATISFIES $f ($f.age > age OR ANY $f.pets SATISFIES (age > 3 AND ANY toys SATISFIES $t ($t.age > age)))",
        "SUBQUERY(friends, $f, $f ISA 'Dog' AND ANY $f.pets.age > $f.age AND $f IN $f.friends).@count > 0",
    ]) func printingAndParsingAreInverse(_ text: String) throws {
        let predicate = try QueryPredicate(parsing: text)
        #expect(try QueryPredicate(parsing: predicate.description) == predicate)
    }

    /// A mark that combines with a quote or a backslash makes one Character of two scalars; so do a return and a new line.
    @Test(arguments: ["a\\\u{308}b", "\"\u{308}", "\r\n", "\\", "\t\"\\\r", "e\u{301}"]) func textsOfEveryKindAreParsedAndPrintedBack(
        _ text: String
    )
        throws
    {
        let predicate = QueryPredicate.compare(.path(PropertyPath("name")), .equal, .value(.string(text)))
        #expect(try QueryPredicate(parsing: predicate.description) == predicate)
    }

    @Test func aKeyPathWithoutVariableIsTheObjectsOutside() throws {
        let text = "SUBQUERY(friends, $f, $f.age > age AND SUBQUERY($f.pets, $p, $p.age == $f.age AND $p == SELF).@count > 0).@count > 0"
        let inner = QueryPredicate.and([
            .compare(.path("age"), .equal, .outer(1, "age")), .compare(.path(.object), .equal, .outer(2, .object)),
        ])
        let outer = QueryPredicate.and([
            .compare(.path("age"), .greater, .outer(1, "age")),
            .compare(.related(RelatedAggregate(.count, "pets", where: inner)), .greater, .value(.int(0))),
        ])
        #expect(
            try QueryPredicate(parsing: text)
                == .compare(.related(RelatedAggregate(.count, "friends", where: outer)), .greater, .value(.int(0))))
        #expect(
            try QueryPredicate(parsing: "ANY friends.age > age")
                == .quantified(.any, .compare(.path("friends.age"), .greater, .path("age"))))
        #expect(
            try QueryPredicate(parsing: "best IN friends") == .related(.any, "friends", .compare(.path(.object), .equal, .outer(1, "best")))
        )
        #expect(
            try QueryPredicate(parsing: text).description
                == "SUBQUERY(friends, $x1, ($x1.age > age) AND (SUBQUERY($x1.pets, $x2, ($x2.age == $x1.age) AND ($x2 == SELF)).@count > 0))"
                + ".@count > 0")
    }

    @Test(arguments: [
        ("SUBQUERY(friends, $f, pets.@count > 1).@count > 0", "objects of pets; begin with $f"),
        ("SUBQUERY(friends, $f, ANY pets SATISFIES (age > 1)).@count > 0", "objects of pets; begin with $f"),
        ("SUBQUERY(friends, $f, $f IN pets).@count > 0", "refers to pets of an outer object"),
        ("SUBQUERY(friends, $f, $g.age > 1).@count > 0", "$f is expected"), ("$g.age > 1", "a subquery around $g is expected"),
    ]) func onlySingleValuesOfTheOuterObjectCanBeUsed(_ text: String, _ message: String) {
        let error = #expect(throws: QueryError.self) { try QueryPredicate(parsing: text) }
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    }

    @Test func anOuterReferenceInTheOutermostConditionIsRefused() throws {
        let schema = try Schema(entities: [Entity("Person", attributes: [Attribute("age", .int64)])])
        let error = #expect(throws: QueryError.self) {
            try ObjectRequest("Person", where: .compare(.path("age"), .equal, .outer(1, "age"))).plan(in: schema)
        }
        #expect(error?.path == "age")
        #expect(QueryPredicate.compare(.path("age"), .equal, .outer(2, "age")).description == "age == $outside.age")
        #expect(QueryPredicate.compare(.path("age"), .equal, .outer(-1, "age")).description == "age == $outside.age")
    }

    @Test func variablesTakeTheirValues() throws {
        let template = try QueryPredicate(
            parsing: "name BEGINSWITH[c] $TEXT AND age > $N AND x IN $LIST AND y BETWEEN $RANGE AND z IN {1, $N} AND n == $NOTHING")
        #expect(template.variables == ["TEXT", "N", "LIST", "RANGE", "NOTHING"])
        let values: [String: PredicateArgument] = [
            "TEXT": .value(.string("a\" OR 1 == 1")), "N": .value(.int(3)), "LIST": .list([.int(1), .null]),
            "RANGE": .list([.int(1), .int(2)]), "NOTHING": .value(.null), "OTHER": .value(.int(9)),
        ]
        let same = try QueryPredicate(
            parsing: "name BEGINSWITH[c] 'a\\\" OR 1 == 1' AND age > 3 AND x IN {1, NIL} AND y BETWEEN {1, 2} AND (z == 1 OR z == 3) "
                + "AND n == NIL")
        #expect(try template.substituting(values) == same)
        #expect(try template.substituting(values).variables.isEmpty)
        #expect(
            try QueryExpression(parsing: "price * $RATE").substituting(["RATE": .value(.double(1.5))])
                == QueryExpression(parsing: "price * 1.5"))
        #expect(
            try QueryPredicate(parsing: "SUBQUERY(friends, $f, $f.age == $N).@count > 0").substituting(values)
                == QueryPredicate(parsing: "SUBQUERY(friends, $f, $f.age == 3).@count > 0"))
    }

    @Test(
        arguments: [
            ("age == $NAME", ["NAMES": .value(.int(1))], "the variable $NAME has no value; did you mean \"NAMES\"?"),
            ("age == $NAME", [:], "the variable $NAME has no value"), ("age == $N", ["N": .list([.int(1)])], "must be a single value"),
            ("age == $N", ["N": .path("name")], "must be a single value"), ("age IN $N", ["N": .value(.int(1))], "must be a list"),
            ("age BETWEEN $N", ["N": .list([.int(1)])], "must be a list of two values"),
            ("name LIKE $N", ["N": .value(.int(1))], "must be a string"), ("name LIKE $N", ["N": .value(.null)], "must be a string"),
        ] as [(String, [String: PredicateArgument], String)]) func aVariableWithoutItsValueIsNamed(
            _ text: String, _ values: [String: PredicateArgument], _ message: String
        ) throws
    {
        let template = try QueryPredicate(parsing: text)
        let error = #expect(throws: QueryError.self) { try template.substituting(values) }
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
        #expect(error?.path == "$" + (template.variables.first ?? ""))
        let schema = try Schema(entities: [Entity("Person", attributes: [Attribute("age", .int64), Attribute("name", .string)])])
        let unused = #expect(throws: QueryError.self) { try ObjectRequest("Person", where: template).plan(in: schema) }
        #expect(unused?.path == error?.path)
    }

    @Test(arguments: [5.0, -2.0, 1e22, 0.1, 1e-7, .infinity, -.infinity]) func numbersKeepTheirType(_ number: Double) throws {
        let predicate = QueryPredicate.compare(.path(PropertyPath("x")), .less, .value(.double(number)))
        #expect(try QueryPredicate(parsing: predicate.description) == predicate)
    }

    @Test func notANumberIsComparedWithNothing() throws {
        let schema = try Schema(entities: [Entity("Person", attributes: [Attribute("age", .int64)])])
        for predicate: QueryPredicate in [
            .compare(.value(.double(.nan)), .equal, .value(.double(1))), .compare(.value(.int(1)), .less, .value(.decimal(.nan))),
            .compare(.path(PropertyPath("age")), .less, .value(.decimal(.nan))), .isIn(.path("age"), [.double(.nan)]),
        ] {
            #expect(throws: QueryError.self) { try ObjectRequest("Person", where: predicate).plan(in: schema) }
        }
    }

    @Test func anErrorNamesThePositionAndTheExpectation() {
        let error = #expect(throws: QueryError.self) { try QueryPredicate(parsing: "age > ") }
        #expect(error?.message == "at character 7: a property or a constant is expected")
    }

    @Test func aWrongNameIsAnsweredWithTheNearest() throws {
        let schema = try Schema(entities: [Entity("Person", attributes: [Attribute("name", .string)])])
        let error = #expect(throws: QueryError.self) {
            try ObjectRequest("Person", where: QueryPredicate(parsing: "nmae == 'x'")).plan(in: schema)
        }
        #expect(error?.path == "nmae")
        #expect(error?.message.contains("did you mean \"name\"?") == true)
    }

    @Test func aWrongTypeIsAnError() throws {
        let schema = try Schema(entities: [Entity("Person", attributes: [Attribute("age", .int64)])])
        #expect(throws: QueryError.self) { try ObjectRequest("Person", where: QueryPredicate(parsing: "age == 'x'")).plan(in: schema) }
    }

    @Test func placeholdersTakeTheirArguments() throws {
        let predicate = try QueryPredicate(
            parsing: "%K BEGINSWITH[c] %@ AND age > %d AND x IN %@ AND y BETWEEN %@ AND z == %f",
            arguments: [
                .path("name"), .value(.string("a\" OR 1 == 1")), .value(.int(3)), .list([.int(1), .null]), .list([.int(1), .int(2)]),
                .value(.double(1.5)),
            ])
        let same = try QueryPredicate(
            parsing: "name BEGINSWITH[c] 'a\\\" OR 1 == 1' AND age > 3 AND x IN {1, NIL} AND y BETWEEN {1, 2} AND z == 1.5")
        #expect(predicate == same)
        #expect(throws: QueryError.self) { try QueryPredicate(parsing: "a == %@") }
        #expect(throws: QueryError.self) { try QueryPredicate(parsing: "a == 1", arguments: [.value(.int(1))]) }
        #expect(throws: QueryError.self) { try QueryPredicate(parsing: "%K == 1", arguments: [.value(.int(1))]) }
        #expect(
            try QueryPredicate(
                parsing: "SUBQUERY(%K, $x, $x.%K == %K).@count > 0", arguments: [.path("a.b"), .value(.string("c.d")), .path("e")])
                == QueryPredicate(parsing: "SUBQUERY(a.b, $x, $x.c.d == e).@count > 0"))
    }

    @Test(arguments: [
        String(repeating: "(", count: 100_000) + "a == 1", String(repeating: "(a == 1 AND ", count: 100_000),
        "a == " + String(repeating: "-(", count: 100_000), String(repeating: "ANY x SATISFIES (", count: 100_000),
        String(repeating: "SUBQUERY(", count: 100_000), "a == " + String(repeating: "TERNARY(", count: 100_000),
        "a == 1" + String(repeating: " OR a == 1", count: 200_000), "a == '" + String(repeating: "x", count: 2_000_000),
        String(repeating: "[", count: 100_000), "a LIKE[" + String(repeating: "c", count: 100_000), "a == 1e999999999",
        "a == 0xFFFFFFFFFFFFFFFFFF",
    ]) func hostileTextsAreErrors(_ text: String) {
        #expect(throws: QueryError.self) { try QueryPredicate(parsing: text) }
    }

    /// What is too deep is refused where it becomes so: what follows is not looked at.
    @Test func parenthesesAreCountedWhileTheyAreRead() {
        let error = #expect(throws: QueryError.self) { try QueryPredicate(parsing: String(repeating: "(", count: 201) + "§") }
        #expect(error?.reason == .tooComplex)
        #expect(error?.message == "at character 201: at most 200 levels of parentheses are allowed")
    }

    @Test(arguments: ["year() == 1", "year(a, 'UTC', 'UTC') == 1", "year(a, 1) == 1"]) func aPartOfADateTakesADateAndAZone(_ text: String) {
        #expect(throws: QueryError.self) { try QueryPredicate(parsing: text) }
    }

    @Test func manyNegationsAreOne() throws {
        let predicate = try QueryPredicate(parsing: String(repeating: "NOT ", count: 100_001) + "a == 1")
        #expect(predicate == .not(.compare(.path("a"), .equal, .value(.int(1)))))
    }

    /// Whatever words come in whatever order: a predicate that prints as a text of itself, or an error.
    @Test func randomWordsAreAPredicateOrAnError() throws {
        let words = [
            "a", "b.c", "==", "!=", "<", "(", ")", "AND", "OR", "NOT", "1", "2.5", "'x'", "IN", "{", "}", ",", "BETWEEN", "LIKE", "[c]",
            "ANY", "ALL",
            "SUBQUERY", "$x", "$x.a", "$N", "SUBQUERY(a , $x ,", ") .@count > 1", "ANY a SATISFIES $x (", ".@count", "@max", "+", "-", "*",
            "/", "NIL", "TRUE", "SATISFIES", "SELF", "ISA", "lowercase(",
            "TERNARY(",
            "year(", "%@", "#AND", ".", "&", "|", "[SIZE]", "MATCHES", "DATE", "\"2013-01-01T10:00:00Z\"", "\u{301}", "\0", "😀",
        ]
        var generator = SystemRandomNumberGenerator(), count = 0
        for _ in 0..<10_000 {
            let text = (0..<Int.random(in: 1..<12, using: &generator)).map { _ in words.randomElement(using: &generator) ?? "" }.joined(
                separator: " ")
            guard let predicate = try? QueryPredicate(parsing: text) else { continue }
            count += 1
            #expect(try QueryPredicate(parsing: predicate.description) == predicate, "\(text)")
        }
        #expect(count > 0)
    }
}
