internal import Foundation
internal import Polystore
internal import PolystoreStorage

/// Cases of group Q: SQL statements of the program.
enum SQLCases {
    static let all: [ConformanceCase] = answers + refusals + changes

    static let sql: Set<StorageCapabilities.Capability> = [.rawSQL]

    private static let answers: [ConformanceCase] = [
        .graph("Q001.values-with-the-names-of-their-columns", "W18", needs: sql) { stack, check in
            try fill(stack)
            let rows = try stack.queryRows(
                """
                SELECT \(column: \Person.name) AS name, \(column: \Person.age) + 1 AS older, \(column: \Person.email) AS email \
                FROM \(table: Person.self) WHERE \(column: \Person.age) > \(20) ORDER BY \(column: \Person.name)
                """)
            check.equal(rows.map(\.names), [["name", "older", "email"], ["name", "older", "email"]], "names")
            check.equal(rows.map(\.values), [[.string("Ann"), .int(31), .null], [.string("Cid"), .int(51), .string("c")]], "values")
            check.equal(try rows.map { try $0.value("older", as: Int.self) }, [31, 51], "typed")
            check.equal(try rows.map { try $0.value("email", as: String.self) }, [nil, "c"], "typed, with nil")
        },
        .graph("Q002.every-type-is-read-as-it-was-written", "V1", needs: sql) { stack, check in
            let date = Date(timeIntervalSince1970: 1_000_000.000001), id = UUID(), number = Decimal(string: "-12.5") ?? 0
            let rows = try stack.queryRows(
                """
                SELECT \(true) AS b, \(Int64.max) AS i, \(2.5) AS d, \("é\u{1F600}") AS s, \(date) AS t, \(id) AS u, \(number) AS n, \
                \(Data([0, 255])) AS x, \(nil as Int?) AS z
                """)
            guard let row = rows.first, rows.count == 1 else { return check.equal(rows.count, 1, "rows") }
            check.equal(try row.value("b", as: Bool.self), true, "bool")
            check.equal(try row.value("i", as: Int64.self), .max, "int64")
            check.equal(try row.value("d", as: Double.self), 2.5, "double")
            check.equal(try row.value("s", as: String.self), "é\u{1F600}", "string")
            check.equal(try row.value("t", as: Date.self), date, "date")
            check.equal(try row.value("u", as: UUID.self), id, "uuid")
            check.equal(try row.value("n", as: Decimal.self), number, "decimal")
            check.equal(try row.value("x", as: Data.self), Data([0, 255]), "data")
            check.equal(try row.value("z", as: Int.self), nil, "nil")
            check.throwing(.invalidPredicate, "a text as a number") { _ = try row.value("s", as: Int.self) }
            check.throwing(.invalidPredicate, "a column that is not there") { _ = try row.value("y", as: Int.self) }
        },
        .graph("Q003.values-are-never-part-of-the-text", "W18", needs: sql) { stack, check in
            try fill(stack)
            for text in ["'", "''; DROP TABLE \"Person\"; --", "\" OR 1=1 --", "\\'; SELECT 1", "$1 ?1 :a %s", "*/ x /*", "Robert'); --"] {
                let found = try stack.queryRows(
                    "SELECT \(text) AS t, count(*) AS c FROM \(table: Person.self) WHERE \(column: \Person.name) = \(text)")
                check.equal(found.map(\.values), [[.string(text), .int(0)]], "bound: \(text)")
            }
            check.equal(try stack.fetchCount(From<Person>()), 3, "people")
        },
        .graph("Q004.lists-of-values", "W18", needs: sql) { stack, check in
            try fill(stack)
            func names(_ ages: [Int]) throws -> [Value] {
                try stack.queryRows(
                    "SELECT \(column: \Person.name) FROM \(table: Person.self) WHERE \(column: \Person.age) IN (\(list: ages)) ORDER BY 1"
                ).map { $0.values[0] }
            }
            check.equal(try names([50, 30]), [.string("Ann"), .string("Cid")], "two")
            check.equal(try names([]), [], "none")
        },
        .graph("Q005.objects-in-the-order-of-a-statement", "W18", needs: sql) { stack, check in
            try fill(stack)
            let sql: RawSQL = "SELECT \(column: \Person.self) FROM \(table: Person.self) ORDER BY \(column: \Person.age) DESC"
            check.equal(try stack.fetchAll(From<Person>(), sql: sql).map(\.name), ["Cid", "Ann", "Bob"], "from a stack")
            let names = try stack.read(synchronous: { source in
                let people = try source.fetchAll(From<Person>(), sql: sql)
                check.isTrue(try person("Ann", in: source) === people[1], "one object for one row")
                return people.map(\.name)
            })
            check.equal(names, ["Cid", "Ann", "Bob"], "from a read")
            // The keys of dogs are in the table of all pets.
            let pets: RawSQL = "SELECT \(column: \Pet.self) FROM \(table: Dog.self) ORDER BY \(column: \Pet.name)"
            check.equal(try stack.fetchAll(From<Pet>(), sql: pets).map(\.name), ["Rex", "Tom"], "a hierarchy")
            check.equal(try stack.fetchAll(From<Dog>(), sql: pets).map(\.name), ["Rex"], "one class of it")
            check.equal(try stack.fetchAll(From<Dog>(), sql: "SELECT -1").count, 0, "a key without a row")
            check.throwing(.invalidPredicate, "no keys") { _ = try stack.fetchAll(From<Dog>(), sql: "SELECT \("a")") }
            check.throwing(.invalidPredicate, "a condition beside the SQL") {
                _ = try stack.fetchAll(From<Person>().where(\.age > 1), sql: sql)
            }
        },
        .graph("Q006.joins-over-links-and-references", "W18", needs: sql) { stack, check in
            try fill(stack)
            let rows = try stack.queryRows(
                """
                SELECT c.\(column: \Club.name) AS club, p.\(column: \Person.name) AS name \
                FROM \(links: \Person.clubs) l, \(table: Person.self) p, \(table: Club.self) c \
                WHERE p.\(column: \Person.self) IN (l."owner", l."member") AND c.\(column: \Club.self) IN (l."owner", l."member") \
                AND p.\(column: \Person.name) = \("Ann")
                """)
            check.equal(rows.count { $0["name"] == .string("Ann") && $0["club"] == .string("Chess") }, rows.count, "joined rows")
            let owners = try stack.queryRows(
                """
                SELECT p.\(column: \Person.name) AS name FROM \(table: Pet.self) a JOIN \(table: Person.self) p \
                ON a.\(column: \Pet.owner) = p.\(column: \Person.self) ORDER BY name
                """)
            check.equal(owners.map { $0["name"] }, [.string("Ann"), .string("Bob")], "owners")
        },
        .graph("Q007.a-statement-sees-what-its-transaction-changed", "W3", needs: sql) { stack, check in
            try fill(stack)
            let count: RawSQL = "SELECT count(*) AS c FROM \(table: Person.self)"
            try stack.write { transaction in
                try transaction.create(Person.self).name = "Dan"
                check.equal(try transaction.queryRows(count).map { $0["c"] }, [.int(4)], "inside")
                check.equal(
                    try transaction.fetchAll(From<Person>(), sql: "SELECT \(column: \Person.self) FROM \(table: Person.self)").count, 4,
                    "objects")
                check.equal(try stack.queryRows(count).map { $0["c"] }, [.int(3)], "outside")
            }
            check.equal(try stack.queryRows(count).map { $0["c"] }, [.int(4)], "after the commit")
        },
    ]

    private static let refusals: [ConformanceCase] = [
        .graph("Q010.a-store-without-sql-says-so", "E4", needsAbsent: sql) { stack, check in
            check.throwing(.unsupported, "rows") { _ = try stack.queryRows("SELECT 1") }
            let said = sentence(stack, "SELECT 1")
            check.isTrue(said.contains("rawSQL"), "the capability is named: \(said)")
            check.throwing(.unsupported, "objects") { _ = try stack.fetchAll(From<Person>(), sql: "SELECT 1") }
            check.throwing(.unsupported, "a change") { try stack.write { _ = try $0.execute("DELETE FROM \(table: Person.self)") } }
            try stack.add("Ann")
            check.equal(try stack.names(), ["Ann"], "the store continues to work")
        },
        .graph("Q011.wrong-statements", "W18", needs: sql) { stack, check in
            try fill(stack)
            let wrong: [RawSQL] = [
                "SELEKT 1", "SELECT 1 FROM WHERE", "SELECT nothing FROM \(table: Person.self)", "SELECT 1 FROM \"nowhere\"", "",
                "  -- nothing\n", ";",
                "SELECT 1; SELECT 2", "SELECT 1; DROP TABLE \(table: Person.self)", "SELECT \(table: "Persn")",
                "SELECT \(column: "agee", of: "Person")", "SELECT \(column: \Person.partner?.name)", "SELECT \(links: \Person.pets)",
                "SELECT 1 \u{0} FROM", "SELECT ?1", "SELECT $7",
            ]
            for sql in wrong { check.throwing(.invalidPredicate, "\(sql.segments)") { _ = try stack.queryRows(sql) } }
            check.throwing(.valueNotStorable, "text with U+0000") { _ = try stack.queryRows("SELECT \("a\u{0}b")") }
            check.throwing(.valueNotStorable, "NaN") { _ = try stack.queryRows("SELECT \(Double.nan)") }
            check.equal(try stack.queryRows("SELECT 1 AS a; -- the end").map { $0["a"] }, [.int(1)], "a statement that ends with a comment")
            // A transaction continues after a wrong statement.
            try stack.write { transaction in
                try transaction.create(Person.self).name = "Dan"
                for sql in wrong { check.throwing(.invalidPredicate, "inside \(sql.segments)") { _ = try transaction.queryRows(sql) } }
                for sql in wrong { check.throwing(.invalidPredicate, "run \(sql.segments)") { try transaction.execute(sql) } }
                check.equal(try transaction.fetchCount(From<Person>()), 4, "inside")
            }
            check.equal(try stack.names(), ["Ann", "Bob", "Cid", "Dan"], "names")
            let nearest = sentence(stack, "SELECT \(column: "agee", of: "Person")")
            check.isTrue(nearest.contains("\"age\""), "the message suggests the nearest name: \(nearest)")
        },
        .graph("Q011.where-a-statement-is-wrong", "E2", needs: sql) { stack, check in
            // The position counts characters, not bytes.
            let syntax = sentence(stack, "SELECT 'é' FRM \(table: Person.self)")
            check.isTrue(["character 12: FRM", "character 16: \"Person"].contains(where: syntax.contains), "syntax: \(syntax)")
            let column = sentence(stack, "SELECT 'é', nothing FROM \(table: Person.self)")
            check.isTrue(column.contains("character 13: nothing") && column.contains("nothing"), "column: \(column)")
            let table = sentence(stack, "SELECT 1 FROM nowhere")
            check.isTrue(table.contains("nowhere"), "table: \(table)")
        },
        .graph("Q012.transactions-and-settings-are-out-of-reach", "W18", needs: sql) { stack, check in
            try fill(stack)
            let statements: [RawSQL] = [
                "BEGIN", "COMMIT", "ROLLBACK", "END", "ABORT", "SAVEPOINT a", "RELEASE a", "START TRANSACTION", "PREPARE TRANSACTION 'a'",
                "/* a */ COMMIT", "-- a\nROLLBACK", "/* /* */ COMMIT; */ ROLLBACK", "PRAGMA query_only = 0", "ATTACH 'x' AS y", "DETACH y",
                "VACUUM",
                "SET search_path = public", "RESET ALL", "DISCARD ALL", "LOCK TABLE a", "COPY a TO STDOUT", "DO 'x'", "CALL a()",
                "CREATE TABLE a(b int)", "DROP TABLE \(table: Person.self)", "ALTER TABLE a RENAME TO b", "TRUNCATE a", "REINDEX",
            ]
            for sql in statements { check.throwing(.invalidPredicate, "\(sql.segments)") { _ = try stack.queryRows(sql) } }
            try stack.write { transaction in
                try transaction.create(Person.self).name = "Dan"
                for sql in statements {
                    check.throwing(.invalidPredicate, "inside \(sql.segments)") { _ = try transaction.queryRows(sql) }
                    check.throwing(.invalidPredicate, "run \(sql.segments)") { try transaction.execute(sql) }
                }
                check.throwing(.invalidPredicate, "what the store keeps") { try transaction.execute("DELETE FROM polystore_metadata") }
            }
            check.equal(try stack.names(), ["Ann", "Bob", "Cid", "Dan"], "names")
        },
        .graph("Q013.a-query-changes-nothing", "W18", needs: sql) { stack, check in
            try fill(stack)
            let delete: RawSQL = "DELETE FROM \(table: Person.self)"
            check.throwing(.readOnly, "from a stack") { _ = try stack.queryRows(delete) }
            try stack.read(synchronous: { source in
                check.throwing(.readOnly, "from a read") { _ = try source.queryRows(delete) }
                check.equal(try source.fetchCount(From<Person>()), 3, "the read continues")
            })
            try stack.write { transaction in
                try transaction.create(Person.self).name = "Dan"
                check.throwing(.readOnly, "from a transaction") { _ = try transaction.queryRows(delete) }
                check.throwing(.invalidPredicate, "a query as a change") { try transaction.execute("SELECT 1") }
            }
            check.equal(try stack.names(), ["Ann", "Bob", "Cid", "Dan"], "names")
        },
    ]

    /// Returns the error message of a statement.
    private static func sentence(_ stack: DataStack, _ sql: RawSQL) -> String {
        do {
            _ = try stack.queryRows(sql)
            return "nothing was thrown"
        } catch {
            return "\(error)"
        }
    }

    /// Creates Ann, 30, with a dog and a club; Bob, 10, with a cat; and Cid, 50, with an email.
    static func fill(_ stack: DataStack) throws {
        try stack.write { transaction in
            let ann = try transaction.create(Person.self), bob = try transaction.create(Person.self)
            let cid = try transaction.create(Person.self)
            (ann.name, ann.age) = ("Ann", 30)
            (bob.name, bob.age) = ("Bob", 10)
            (cid.name, cid.age, cid.email) = ("Cid", 50, "c")
            let dog = try transaction.create(Dog.self), cat = try transaction.create(Cat.self), club = try transaction.create(Club.self)
            (dog.name, dog.owner) = ("Rex", ann)
            (cat.name, cat.owner) = ("Tom", bob)
            club.name = "Chess"
            ann.clubs = [club]
        }
    }
}
