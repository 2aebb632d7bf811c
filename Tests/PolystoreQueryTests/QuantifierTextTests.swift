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
        try ObjectRequest("Person", where: QueryPredicate(parsing: text)).plan(in: schema)
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
            "ANY staff.n > TERNARY(ANY staff.friends.n > 3, 1, 2)",
            "ANY staff SATISFIES (n > TERNARY(ANY friends SATISFIES (n > 3), 1, 2))"
        ),
    ])
    func aTextInOnePieceIsTheSameAs(_ text: String, _ other: String) throws {
        #expect(try plan(text) == plan(other))
        #expect(try plan("NOT \(QueryPredicate(parsing: text))") == plan("NOT (\(other))"), "printed")
    }

    @Test(arguments: [
        ("ANY boss.n == 1", "ANY requires a to-many relationship"),
        ("ALL staff SATISFIES (friends.n == 1 AND n > 1)", "use ANY, ALL or NONE"),
        ("ANY staff SATISFIES (NOT (friends.n == 1))", "use ANY, ALL or NONE"),
        ("ANY boss SATISFIES (staff.n == 1 AND n > 1)", "requires a to-many relationship"),
    ])
    func whatHasNoSuchRelationshipIsRefused(_ text: String, _ sentence: String) {
        #expect { try plan(text) } throws: { ($0 as? QueryError)?.message.contains(sentence) == true }
    }
}
