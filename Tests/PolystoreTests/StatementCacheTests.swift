import Foundation
import PolystoreSQL
import PolystoreStorage
import Testing

@testable import PolystorePostgreSQL
@testable import PolystoreSQLite

/// Statements that are kept for requests which differ only in their constants. A wrong one would answer another request.
@Suite struct StatementCacheTests {
    private static let schema = Result {
        try Schema(entities: [
            Entity(
                "Thing",
                attributes: [
                    Attribute("whole", .int64, isOptional: true), Attribute("small", .int16, isOptional: true),
                    Attribute("real", .double, isOptional: true), Attribute("single", .float, isOptional: true),
                    Attribute("price", .decimal, isOptional: true), Attribute("text", .string, isOptional: true),
                    Attribute("at", .date, isOptional: true), Attribute("flag", .bool, isOptional: true),
                    Attribute("code", .uuid, isOptional: true), Attribute("bytes", .data, isOptional: true),
                ],
                relationships: [
                    Relationship("parent", to: "Thing", inverse: "children"),
                    Relationship("children", to: "Thing", .toMany, inverse: "parent"),
                ], indexes: [Index(["whole"], where: "small == 7 AND text == 'b'")])
        ])
    }

    private static let dialects: [(name: String, dialect: SQLDialect)] = [("SQLite", .sqlite), ("PostgreSQL", .postgreSQL)]

    /// Random numbers that can be repeated.
    private struct Seeded: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9e37_79b9_7f4a_7c15
            var mixed = (state ^ state >> 30) &* 0xbf58_476d_1ce4_e5b9
            mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
            return mixed ^ mixed >> 31
        }
    }

    /// Texts of conditions: the shape from one source of random numbers, the constants from another.
    private struct Conditions {
        var shape: Seeded
        var constants = SystemRandomNumberGenerator()
        /// The constants that a text cannot spell.
        var arguments: [PredicateArgument] = []

        private mutating func choose(_ texts: String...) -> String { texts.randomElement(using: &shape) ?? "" }

        private mutating func int() -> String { "\(Int.random(in: 5...9, using: &constants))" }

        private mutating func word() -> String {
            let words = ["b", "x\0", "Ab", "c%", "a_b", "ß", "k", "Σ", "\u{10ffff}", "\u{1f600}x", "b\u{d7ff}"]
            return "'\(words.randomElement(using: &constants) ?? "")'"
        }

        /// A placeholder for a random constant of an attribute.
        private mutating func argument(_ attribute: String) -> String {
            let number = UInt8.random(in: 0...9, using: &constants)
            let value: Value =
                switch attribute {
                case "at": .date(Int64(number) * 1_000_000_000_000)
                case "code": .uuid(UUID(uuid: (number, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, number)))
                case "bytes": .data(Data(repeating: number, count: Int(number)))
                default: .decimal(Decimal(Int(number)) / 8)
                }
            arguments.append(.value(value))
            return "%@"
        }

        private mutating func list(_ item: (inout Conditions) -> String) -> String {
            let count = Int.random(in: 1...4, using: &shape)
            return "{" + (0..<count).map { _ in item(&self) }.joined(separator: ", ") + "}"
        }

        private mutating func leaf() -> String {
            let comparison = choose("==", "!=", "<", "<=", ">", ">=")
            switch Int.random(in: 0..<27, using: &shape) {
            case 0: return "whole \(comparison) \(int())"
            case 1: return "small \(comparison) \(int())"
            case 2: return "whole IN \(list { $0.int() })"
            case 3: return "\(choose("real", "single", "price")) \(comparison) \(int()).\(int())"
            case 4: return "text \(comparison) \(word())"
            case 5: return "text \(choose("BEGINSWITH", "ENDSWITH", "CONTAINS")) \(word())"
            case 6: return "text \(choose("BEGINSWITH", "ENDSWITH", "CONTAINS", "LIKE"))\(choose("[c]", "[d]", "[cd]")) \(word())"
            case 7: return "text \(choose("==", "!=", "<"))\(choose("[c]", "[cd]")) \(word())"
            case 8: return "text LIKE '\(choose("a*", "*b?", "?"))\(int())'"
            case 9: return "text IN\(choose("", "[c]", "[d]")) \(list { $0.word() })"
            case 10: return "flag == \(Bool.random(using: &constants) ? "TRUE" : "FALSE")"
            case 11: return "\(choose("text", "parent", "at")) \(choose("==", "!=")) nil"
            case 12: return "\(choose("whole + ", "whole / ", "small * "))\(int()) \(comparison) \(int())"
            case 13: return "parent.whole \(comparison) \(int())"
            case 14: return "\(choose("ANY", "NONE", "ALL")) children.small \(comparison) \(int())"
            case 15: return "children.@\(choose("count", "max.whole", "sum.small")) \(comparison) \(int())"
            case 16: return "uppercase(text) \(choose("==", "BEGINSWITH", "ENDSWITH")) \(word())"
            case 17: return "length(text) \(comparison) \(int())"
            case 18: return "coalesce(whole, \(int())) \(comparison) \(int())"
            case 19: return "SUBQUERY(children, $x, $x.whole > \(int()) AND $x.text == \(word())).@count > 0"
            case 20: return "whole BETWEEN {\(int()), 1\(int())}"
            case 21: return "length(text) IN \(list { $0.int() })"
            case 23, 24:
                let attribute = choose("at", "code", "bytes", "price")
                return "\(attribute) \(comparison) \(argument(attribute))"
            case 25:
                let attribute = choose("at", "code", "bytes", "price")
                return "\(attribute) IN \(list { $0.argument(attribute) })"
            case 22: return "(small == \(int()) AND text == \(word()))"
            default: return "whole \(comparison) small"
            }
        }

        mutating func condition(_ depth: Int = 0) -> String {
            switch Int.random(in: 0..<(depth > 2 ? 4 : 8), using: &shape) {
            case 0...4: return leaf()
            case 5: return "NOT (\(condition(depth + 1)))"
            case 6: return "(\(condition(depth + 1)) AND \(condition(depth + 1)))"
            default: return "(\(condition(depth + 1)) OR \(condition(depth + 1)))"
            }
        }
    }

    private func plan(_ number: Int, _ schema: Schema) throws -> FetchPlan {
        var conditions = Conditions(shape: Seeded(state: UInt64(number % 250)))
        let condition = conditions.condition()
        var request = ObjectRequest("Thing", where: try QueryPredicate(parsing: condition, arguments: conditions.arguments))
        if number % 3 == 0 { request.limit = Int.random(in: 0...50) }
        if number % 5 == 0 { request.offset = Int.random(in: 0...3) }
        if number % 7 == 0 { request.order = [OrderTerm(try QueryExpression(parsing: "length(text)"), ascending: number % 2 == 0)] }
        return try request.plan(in: schema)
    }

    private func rendered(_ text: SQLText?, _ dialect: SQLDialect) -> String? {
        text.map { text in
            let (sql, bindings) = text.rendered(dialect)
            return "\(sql) \(bindings)"
        }
    }

    @Test(arguments: 0..<dialects.count) func aKeptStatementIsTheOneThatWouldBeCompiled(_ index: Int) throws {
        let (name, dialect) = Self.dialects[index], schema = try Self.schema.get()
        let compiler = SQLCompiler(SQLTables(schema, dialect, entityNumbers: [1]))
        let statements = SQLStatements<Int>(compiler) { select, _ in select.columns.count }
        let whole = try #require(schema[0].slot("whole"))
        var failures: [String] = []
        for number in 0..<1_000 {
            let plan = try plan(number, schema), known = statements.statement(plan)
            func check(_ found: String?, _ wanted: String?) {
                if found != wanted { failures.append("\(name) \(number): \(found ?? "nothing") instead of \(wanted ?? "nothing")") }
            }
            check("\(known.sql) \(known.bindings)", rendered(compiler.select(plan).text, dialect))
            let count = QueryPlan.count(plan)
            check(rendered(statements.values(count)?.text, dialect), rendered(compiler.values(count)?.text, dialect))
            let rows = QueryPlan(fetch: plan, kind: .rows([.value(.int(Int64(number)), .int64)]))
            check(rendered(statements.values(rows)?.text, dialect), rendered(compiler.values(rows)?.text, dialect))
            var changed = plan
            (changed.sort, changed.limit, changed.offset) = ([], nil, 0)
            check(rendered(statements.delete(changed), dialect), rendered(compiler.delete(changed), dialect))
            let update = BatchUpdate(fetch: changed, assignments: [(whole, .value(.int(Int64.random(in: 0..<10)), .int64))])
            check(rendered(statements.update(update), dialect), rendered(compiler.update(update), dialect))
        }
        #expect(failures.isEmpty, "\(failures.count): \(failures.prefix(3).joined(separator: "\n"))")
    }

    @Test(arguments: 0..<dialects.count) func requestsThatDifferInConstantsShareAStatement(_ index: Int) throws {
        let schema = try Self.schema.get(), dialect = Self.dialects[index].dialect
        let compiler = SQLCompiler(SQLTables(schema, dialect, entityNumbers: [1]))
        func count(_ condition: (Int) -> String, _ run: (SQLStatements<Int>, FetchPlan) throws -> Void) throws -> Int {
            let statements = SQLStatements<Int>(compiler) { select, _ in select.columns.count }
            for number in 0..<1_000 {
                try run(statements, ObjectRequest("Thing", where: QueryPredicate(parsing: condition(number))).plan(in: schema))
            }
            return statements.count
        }
        let condition = { (number: Int) in "whole > \(number) AND text == 'word \(number)' AND NOT price IN {\(number), \(number).5}" }
        #expect(try count(condition) { _ = $0.statement($1) } == 1)
        #expect(try count(condition) { _ = $0.values(.count($1)) } == 1)
        #expect(try count(condition) { _ = $0.delete($1) } == 1)
        #expect(try count({ "parent.text BEGINSWITH 'word \($0)'" }) { _ = $0.statement($1) } == 1)
        // That of the partial index has a statement of its own.
        #expect(try count({ "small == \($0 % 10)" }) { _ = $0.statement($1) } == 2)
        // The oldest are given up first.
        #expect(try count({ "length(text) + \($0) == 5" }) { _ = $0.statement($1) } == 256)
    }
}
