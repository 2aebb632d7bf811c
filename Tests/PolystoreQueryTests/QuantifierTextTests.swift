import PolystoreSchema
import Testing

@testable import PolystoreQuery

/// The related objects of a text with a quantifier in one piece: those of the last to-many relationship.
struct QuantifierTextTests {
    private let schema: Schema

    init() throws {
        schema = try Schema(entities: [
            Entity(
                "Person", attributes: [Attribute("n", .int64, isOptional: true)],
                relationships: [
                    Relationship("boss", to: "Person", inverse: "staff"), Relationship("staff", to: "Person", .toMany, inverse: "boss"),
                    Relationship("friends", to: "Person", .toMany, inverse: "friends"),
                ])
        ])
    }

    private func plan(_ text: String) throws -> FetchPlan {
        var condition = try QueryPredicate(parsing: text)
        if text.contains("$v") { condition = try condition.substituting(["v": .value(.int(2))]) }
        return try ObjectRequest("Person", where: condition).plan(in: schema)
    }

    @Test(arguments: [
        ("ANY staff.boss.n == NIL", "ANY staff SATISFIES (boss.n == NIL)"),
        ("ANY staff.boss.boss.n IN {1, 2}", "ANY staff SATISFIES (boss.boss.n IN {1, 2})"),
        ("ANY boss.staff.n BETWEEN {1, 2}", "ANY boss.staff SATISFIES (n BETWEEN {1, 2})"),
        ("NONE boss.boss.staff.n > 3", "NONE boss.boss.staff SATISFIES (n > 3)"),
        ("ANY staff.friends.n > 3", "ANY staff.friends SATISFIES (n > 3)"),
        ("ALL staff.friends.boss.n != 1", "ALL staff.friends SATISFIES (boss.n != 1)"),
        ("ANY boss.staff.n > boss.n", "ANY boss.staff SATISFIES $x ($x.n > boss.n)"),
        ("ANY staff.n > boss.n", "ANY staff SATISFIES $x ($x.n > boss.n)"),
        ("ANY staff.friends.staff.@count > 2", "ANY staff.friends SATISFIES (staff.@count > 2)"),
        ("ANY boss.staff.friends.@sum.n > 2", "ANY boss.staff SATISFIES (friends.@sum.n > 2)"),
        ("ANY boss.staff == boss", "ANY boss.staff SATISFIES $x ($x == boss)"),
        ("ANY boss IN boss.staff.friends", "ANY boss.staff SATISFIES $x (boss IN $x.friends)"),
        ("ALL boss IN staff.friends.staff", "ALL staff.friends SATISFIES $x (boss IN $x.staff)"),
        (
            "ANY TERNARY(ANY staff.friends.n > 3, 1, 2) < staff.n",
            "ANY staff SATISFIES (TERNARY(ANY friends SATISFIES (n > 3), 1, 2) < n)"
        ),
        (
            "ANY TERNARY(ANY staff.friends.friends.n > 3, 1, 2) < staff.n",
            "ANY staff SATISFIES (TERNARY(ANY friends.friends SATISFIES (n > 3), 1, 2) < n)"
        ),
        (
            "ANY staff.friends.n > TERNARY(ANY staff.friends.friends.n > staff.friends.n, 1, 2)",
            "ANY staff.friends SATISFIES (n > TERNARY(ANY friends SATISFIES $x ($x.n > n), 1, 2))"
        ),
        ("ANY (staff.n > 3)", "ANY staff SATISFIES (n > 3)"),
        ("ANY n < friends.n", "ANY friends SATISFIES $x (n < $x.n)"),
        ("ALL boss IN staff.friends.boss.staff", "ALL staff.friends SATISFIES $x (boss IN $x.boss.staff)"),
        ("ANY boss IN staff.friends.boss", "ANY staff SATISFIES $x (boss IN $x.friends.boss)"),
        ("ANY staff.friends.boss.@sum.n > 2", "ANY staff SATISFIES (friends.boss.@sum.n > 2)"),
        ("ANY staff.friends.n IN {1, $v}", "ANY staff.friends SATISFIES (n IN {1, $v})"),
        (
            "ANY staff.n > TERNARY(ANY staff.friends.n > 3, 1, 2)",
            "ANY staff SATISFIES (n > TERNARY(ANY friends SATISFIES (n > 3), 1, 2))"
        ),
    ])
    func aTextInOnePieceIsTheSameAs(_ text: String, _ other: String) throws {
        #expect(try plan(text) == plan(other))
        #expect(try plan("NOT \(QueryPredicate(parsing: text))") == plan("NOT (\(other))"), "printed")
    }

    /// The objects of each quantifier are those of its own relationship.
    @Test func aConditionWithinAnotherKeepsItsQuantifier() throws {
        #expect(
            try plan("ALL friends SATISFIES (ANY staff.friends SATISFIES (n > 3))")
                != plan("ALL friends.staff SATISFIES (ANY friends SATISFIES (n > 3))"))
        _ = try plan("ALL friends SATISFIES (ANY staff.boss SATISFIES (n > 3))")
        _ = try plan("ANY friends SATISFIES (staff.boss.@sum.n > 2)")
    }

    @Test(arguments: ["x", "x.y", "staff"]) func aLongPathIsRefusedAtOnce(name: String) {
        let text = "ANY " + Array(repeating: name, count: 50_000).joined(separator: ".") + " == 1"
        #expect { try plan(text) } throws: { ($0 as? QueryError)?.reason == .tooComplex }
    }

    @Test(arguments: [
        ("ANY boss.n == 1", "ANY requires a to-many relationship"),
        ("ALL staff SATISFIES (friends.n == 1 AND n > 1)", "use ANY, ALL or NONE"),
        ("ANY staff SATISFIES (NOT (friends.n == 1))", "use ANY, ALL or NONE"),
        ("ANY boss SATISFIES (staff.n == 1 AND n > 1)", "requires a to-many relationship"),
        ("ANY staff SATISFIES (friends.n == 1)", "use ANY, ALL or NONE"),
        ("ANY staff.n > TERNARY(ANY staff.n > 3, 1, 2)", "ANY requires a to-many relationship"),
        ("ANY boss.n > n", "ANY requires a to-many relationship"), ("ANY boss == SELF", "ANY requires a to-many relationship"),
        ("ANY n == freinds.n", "no property \"freinds\""),
        ("ANY freinds.n == 1", "no property \"freinds\""), ("ANY boss.stff.n == 1", "no property \"stff\""),
        ("ANY staff.freinds.@count > 2", "no property \"freinds\""), ("ANY boss IN staff.freinds", "no property \"freinds\""),
        ("ANY boss.n < freinds.n", "no property \"freinds\""), ("ANY staff.n > staff.@count", "refers to staff of an outer object"),
        ("ANY n.x == 1", "n is an attribute"), ("ANY staff.n > TERNARY(ANY friends.n > 3, 1, 2)", "refers to friends.n of an outer object"),
        ("ANY (friends.n == 1 AND n > 2)", "one comparison is expected after ANY"),
        ("ANY TERNARY(ANY staff.friends.n > staff.friends.staff.n, 1, 2) == 1", "use ANY, ALL or NONE"),
        ("ANY 1 == 1", "a key path through a relationship is expected after ANY"),
        ("ANY staff.n > friends.n", "use ANY, ALL or NONE"), ("ANY staff.n > friends.@count", "refers to friends of an outer object"),
    ])
    func whatHasNoSuchRelationshipIsRefused(_ text: String, _ sentence: String) {
        #expect { try plan(text) } throws: { ($0 as? QueryError)?.message.contains(sentence) == true }
    }
}
