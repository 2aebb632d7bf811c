import Polystore
import PolystoreStorage
import TestStores
import Testing

/// The parts of requests that the SQL stores answer by themselves.
@Suite struct PushdownTests {
    private static let schema = try? Schema(entities: [
        Entity(
            "Thing",
            attributes: [
                Attribute("whole", .int64, isOptional: true), Attribute("small", .int32, isOptional: true),
                Attribute("real", .double, isOptional: true), Attribute("price", .decimal, isOptional: true),
                Attribute("text", .string, isOptional: true), Attribute("at", .date, isOptional: true),
                Attribute("flag", .bool, isOptional: true),
            ],
            relationships: [
                Relationship("parent", to: "Thing", inverse: "children"),
                Relationship("children", to: "Thing", .toMany, inverse: "parent"),
            ])
    ])

    private func pushdowns(_ store: TestStore, _ request: (Schema, ReadSession) throws -> [String]) throws -> [String] {
        let schema = try #require(Self.schema)
        let session = try OpenStore(opening: store.make(), OpenRequest(schema: schema)).beginRead()
        defer { session.end() }
        return try request(schema, session)
    }

    /// Texts of expressions that both stores compute.
    private static let onBoth = [
        "small + 1", "small - small", "small * small", "whole / 2", "modulus(whole, 7)", "negate(small)", "abs(small)", "floor(whole)",
        "floor(real)", "ceiling(real)", "floor(price)", "ceiling(price)", "round(price)", "round(small)", "bitAnd(whole, 3)",
        "bitOr(whole, small)", "trim(text)", "length(text)", "concatenate(text, 'x')", "coalesce(whole, small)", "coalesce(small, real)",
        "coalesce(real, price)", "TERNARY(flag == TRUE, whole, real)", "TERNARY(small + 1 > 3, 1, 2)", "year(at)", "month(at)", "day(at)",
        "hour(at)", "minute(at)", "second(at)", "weekday(at)", "dayOfYear(at)", "year(at) * 12 + month(at)", "year(parent.at)",
        "parent.small + 1", "children.@count", "children.@sum.small", "children.@avg.whole", "children.@median.whole", "children.@max.real",
    ]

    /// Texts of expressions that only SQLite computes: on a server a failure would end the transaction, or tables differ from Polystore's.
    private static let onSQLite = [
        "whole + 1", "whole * small", "whole / small", "modulus(whole, small)", "negate(whole)", "abs(whole)", "real + 1", "real / 3",
        "round(real)", "abs(real)", "price + 1", "price * price", "price / 3", "abs(price)", "uppercase(text)", "lowercase(text)",
        "folded[c](text)", "folded[cd](text)", "year(at, 'Europe/Berlin')", "TERNARY(whole + 1 > 3, 1, 2)", "children.@sum.whole",
        "children.@sum.real", "children.@avg.price", "children.@median.real", "children.@stddev.real",
    ]

    /// The condition, the order and the output by an expression that the store does not answer.
    private func residual(_ texts: [String], _ store: TestStore) throws -> [String] {
        try pushdowns(store) { schema, session in
            var residual: [String] = []
            for text in texts {
                let expression = try QueryExpression(parsing: text)
                let condition = try ObjectRequest("Thing", where: .compare(expression, .notEqual, .value(.null))).plan(in: schema)
                let order = try ObjectRequest("Thing", orderBy: [OrderTerm(expression, ascending: true)]).plan(in: schema)
                let output = try QueryRequest(ObjectRequest("Thing"), outputs: [QueryOutput(expression, as: "value")]).plan(in: schema)
                if session.reader.pushdown(of: condition) != .exact { residual.append("where \(text)") }
                if session.reader.pushdown(of: order) != .exact { residual.append("order by \(text)") }
                if session.pushdown(of: output) != .exact { residual.append("select \(text)") }
            }
            return residual
        }
    }

    private static var sqlStores: [TestStore] { TestStore.all.filter { $0 == .sqlite || $0 == .postgresql } }

    @Test(arguments: sqlStores) func expressionsAreAnsweredInTheStore(_ store: TestStore) throws {
        #expect(try residual(Self.onBoth + (store == .sqlite ? Self.onSQLite : []), store) == [])
    }

    @Test(arguments: sqlStores) func aggregatesAreAnsweredInTheStore(_ store: TestStore) throws {
        let residual = try pushdowns(store) { schema, session in
            var residual: [String] = []
            for function in AggregateFunction.allCases {
                for path in ["whole", "small", "real", "price", "small * small", "year(at)"] {
                    let aggregate = Aggregate(function, of: try QueryExpression(parsing: path))
                    for keys in [[], [QueryExpression.path("flag")]] {
                        let request = QueryRequest(ObjectRequest("Thing"), outputs: [.aggregate(aggregate)], groupBy: keys)
                        if session.pushdown(of: try request.plan(in: schema)) == .exact { continue }
                        residual.append("\(function.rawValue) of \(path)")
                    }
                }
            }
            return residual
        }
        // The server adds floating-point numbers without compensation.
        #expect(Set(residual) == (store == .sqlite ? [] : ["sum of real", "average of real"]))
    }

    @Test(arguments: sqlStores) func conditionsAreAnsweredInTheStore(_ store: TestStore) throws {
        let exact = [
            "text LIKE 'a?b*c'", "trim(text) BEGINSWITH 'a'", "small + 1 > 5 AND text == 'a'", "year(at) == 2026",
            "text MATCHES '(a.*|[^b]{100})'",
        ]
        // The server finds rows that the layer above checks: whole numbers may exceed 64 bits, and it folds ASCII only.
        let inexact = [
            "whole + 1 > 5", "whole * small IN {2, 3}", "(whole + 1) / small == 2 AND text == 'a'", "text ==[c] 'a'",
            "text CONTAINS[cd] 'a'", "NOT text CONTAINS[cd] 'a'", "NOT text ==[c] 'a' AND small == 2", "text MATCHES[c] 'a.*'",
        ]
        let onSQLite = [
            "text MATCHES '[ab]{201}'", "text SEARCH 'a'", "small * 2 > 1.5", "price * 2 > 10", "real * 2 > 10",
            "SUBQUERY(children, $x, $x.whole + 1 > 3).@count > 0", "ANY children.text ==[c] 'a'",
        ]
        let found = try pushdowns(store) { schema, session in
            try (exact + inexact + onSQLite).map { text in
                "\(session.reader.pushdown(of: try ObjectRequest("Thing", where: QueryPredicate(parsing: text)).plan(in: schema)))"
            }
        }
        let (some, none) = store == .sqlite ? ("exact", "exact") : ("inexact", "unsupported")
        #expect(found == exact.map { _ in "exact" } + inexact.map { _ in some } + onSQLite.map { _ in none })
    }
}
