import PolystoreQuery
import PolystoreSchema
import Testing

/// What a program nests without end is refused where it is used, and needs no more stack than what is allowed.
struct DepthTests {
    private let schema: Schema

    init() throws {
        schema = try Schema(
            version: "1",
            entities: [
                Entity(
                    "A", attributes: [Attribute("n", .int64)],
                    relationships: [Relationship("others", to: "A", .toMany, inverse: "one"), Relationship("one", to: "A", .toOne)])
            ])
    }

    private static func nested(_ start: QueryPredicate, _ wrap: (QueryPredicate) -> QueryPredicate) -> QueryPredicate {
        (0..<100_000).reduce(start) { predicate, _ in wrap(predicate) }
    }

    private static func nested(_ wrap: (QueryExpression) -> QueryExpression) -> QueryExpression {
        (0..<100_000).reduce(.path("n")) { expression, _ in wrap(expression) }
    }

    private static let leaf = QueryPredicate.compare(.path("n"), .equal, .value(.int(1)))

    static let predicates: [QueryPredicate] = [
        nested(leaf) { .not($0) }, nested(leaf) { .and([leaf, $0]) }, nested(leaf) { .or([$0, leaf]) },
        nested(leaf) { .related(.any, "others", $0) }, nested(leaf) { .quantified(.any, $0) },
        nested(leaf) { .compare(.conditional($0, .path("n"), .value(.int(2))), .greater, .value(.int(1))) },
        nested(leaf) { .compare(.related(RelatedAggregate(.count, "others", where: $0)), .equal, .value(.int(0))) },
        .compare(nested { .function(.negate, [$0]) }, .equal, .value(.int(1))),
        .isIn(nested { .function(.add, [.value(.int(1)), $0]) }, [.int(1)]),
        .between(.path("n"), .path("n"), nested { .function(.absolute, [$0]) }),
        .text(nested { .function(.uppercase, [$0]) }, .contains, "x"),
    ]

    @Test(arguments: predicates) func hundredThousandLevelsAreRefused(_ predicate: QueryPredicate) throws {
        #expect { try ObjectRequest("A", where: predicate).plan(in: schema) } throws: { ($0 as? QueryError)?.reason == .tooComplex }
        #expect(predicate == predicate)
        #expect(!predicate.description.isEmpty)
        #expect(Set([predicate]).count == 1)
    }

    @Test func deepAggregatesAndOrdersAreRefused() throws {
        let deep = Self.nested { .function(.negate, [$0]) }
        #expect { try ObjectRequest("A", orderBy: [OrderTerm(deep)]).plan(in: schema) } throws: {
            ($0 as? QueryError)?.reason == .tooComplex
        }
        let sum = QueryOutput(.aggregate(Aggregate(.sum, of: deep)), as: "sum")
        #expect { try QueryRequest(ObjectRequest("A"), outputs: [sum]).plan(in: schema) } throws: {
            ($0 as? QueryError)?.reason == .tooComplex
        }
    }

    @Test func allowedLevelsAreKept() throws {
        let deep = (1..<QueryPredicate.deepest - 1).reduce(Self.leaf) { predicate, _ in .not(predicate) }
        // 498 negations cancel out.
        #expect(
            try ObjectRequest("A", where: deep).plan(in: schema).predicate
                == ObjectRequest("A", where: Self.leaf).plan(in: schema).predicate)
        let deeper = (1..<QueryPredicate.deepest).reduce(Self.leaf) { predicate, _ in .not(predicate) }
        #expect { try ObjectRequest("A", where: deeper).plan(in: schema) } throws: { ($0 as? QueryError)?.reason == .tooComplex }
    }

    @Test func longChainsOfOperatorsStayFlat() throws {
        let any = (0..<5_000).map { QueryPredicate.compare(.path("n"), .equal, .value(.int(Int64($0)))) }.reduce(.constant(false), ||)
        #expect(throws: Never.self) { try ObjectRequest("A", where: any).plan(in: schema) }
    }
}
