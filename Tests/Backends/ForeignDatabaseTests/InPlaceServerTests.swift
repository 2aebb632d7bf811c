import Foundation
import Polystore
import PolystoreStorage
import TestStores
import Testing

/// What other programs of a server meet where a schema is used in place: their statements, locks, sequences and restores.
@Suite(.enabled(if: TestStore.server != nil, "needs a PostgreSQL server; .ci/run starts one")) struct InPlaceServerTests {
    /// A plan that was made for one row, kept in the session, serves many.
    @Test func manyRowsAreWrittenAsFastAfterOne() throws {
        let shop = try InPlaceDatabase(
            .postgresql,
            "CREATE TABLE a(id int PRIMARY KEY, n int); INSERT INTO a SELECT i, 0 FROM generate_series(1, 20000) AS i; ANALYZE a;")
        try OpenDatabase(shop.url).close()
        let one = String(repeating: "UPDATE a SET n = n + 1 WHERE id = 1;", count: 12)
        try shop.sql("\(one) SET statement_timeout = '6s'; UPDATE a SET n = n + 1;")
        #expect(try shop.sql("SELECT count(*) FROM polystore_log WHERE kind = 'u'") == ["20012"])
    }

    /// The server names only the type of a value that it refuses.
    @Test func aValueThatAColumnDoesNotAcceptNamesItsProperty() throws {
        let shop = try InPlaceDatabase(
            .postgresql,
            """
            CREATE TYPE mood AS ENUM ('sad', 'ok');
            CREATE TABLE customer(id bigserial PRIMARY KEY, name varchar(5), mood mood, tags text[], meta jsonb, price numeric(4, 2),
                other numeric(4, 2), one numeric(5, 1));
            INSERT INTO customer(name) VALUES ('Ann');
            """)
        let stack = try shop.stack()
        func refusal(_ property: String, _ value: Value) throws -> StorageError? {
            failure {
                try stack.perform(synchronous: { transaction in
                    let row = try #require(try transaction.fetchOne(From<DynamicObject>(entity: "customer")))
                    try row.setValue(value, for: property)
                })
            }
        }
        let number = try #require(Decimal(string: "1234567"))
        let cases: [(String, Value)] = [
            ("tags", .string("{secret")), ("meta", .string("{secret")), ("price", .decimal(number)), ("one", .decimal(number)),
        ]
        for (property, value) in cases {
            let error = try #require(try refusal(property, value))
            #expect(error.code == .validationFailed, "\(error)")
            #expect(error.details.entity == "customer" && error.details.property == property, "\(error)")
            #expect(error.message.contains("customer.\(property) has a value that the type of its column does not accept"), "\(error)")
            #expect(!error.debugDescription.contains("secret") && !error.debugDescription.contains("1234567"))
        }
        // Two columns of the type that the server names were written.
        let both = failure {
            try stack.perform(synchronous: { transaction in
                let row = try #require(try transaction.fetchOne(From<DynamicObject>(entity: "customer")))
                try row.setValue(.decimal(number), for: "price")
                try row.setValue(.decimal(1), for: "other")
            })
        }
        let error = try #require(both)
        #expect(error.details.property == nil && error.message.contains("one of price, other"), "\(error)")
    }

    @Test func lastvalIsThatOfTheProgramsOwnSequence() throws {
        let shop = try InPlaceDatabase(.postgresql)
        try OpenDatabase(shop.url).close()
        #expect(
            try shop.sql(
                "INSERT INTO country(code, name) VALUES('FR', 'France'); INSERT INTO category VALUES(7, 'x'); SELECT lastval() = currval('country_id_seq');"
            ) == ["t"])
    }

    @Test func truncatingIsDeleting() throws {
        let shop = try InPlaceDatabase(.postgresql), stack = try shop.stack(), open = try OpenDatabase(shop.url), work = stack.beginUnsafe()
        try #require(try work.edit(try stack.object("order_line", 1))).setValue(.int(9), for: "quantity")
        let gone = stack.beginUnsafe()
        try #require(try gone.edit(try stack.object("order_line", 3))).setValue(.int(9), for: "quantity")
        try shop.sql("TRUNCATE order_line RESTART IDENTITY CASCADE; INSERT INTO order_line(order_id, line, quantity) VALUES(6, 7, 1);")
        #expect(failure { try work.commit() }?.code == .staleObject)
        #expect(failure { try gone.commit() } != nil)
        #expect(try shop.sql("SELECT id, line, quantity FROM order_line") == ["1|7|1"])
        let line = try #require(open.schema.index(of: "order_line")), shipment = try #require(open.schema.index(of: "shipment"))
        let changes = try open.history(changes: 5).flatMap { Array($0.changes) }
        #expect(
            Set(changes.filter { $0.kind == .delete }.map { [$0.entity, Int($0.key)] })
                == [[line, 1], [line, 2], [line, 3], [shipment, 1]])
        #expect(changes.last == HistoryChange(entity: line, key: 1, kind: .insert))
    }

    /// A report that goes on for long keeps nobody from opening, and an opening keeps nobody from writing.
    @Test func openingNeitherWaitsForReportsNorBlocksWriters() async throws {
        let shop = try InPlaceDatabase(.postgresql)
        try OpenDatabase(shop.url).close()
        try shop.sql("CREATE TABLE extra(id int PRIMARY KEY)")
        let name = shop.name, url = shop.url
        async let report = InPlaceDatabase.sql(
            "BEGIN; SELECT count(*) FROM country; SELECT count(*) FROM extra; INSERT INTO extra VALUES(1); SELECT pg_sleep(5); COMMIT;",
            name)
        try await Task.sleep(for: .seconds(1))
        // The writer of the new table holds up who makes its triggers.
        async let opening: Void = Task.detached { try OpenDatabase(url).close() }.value
        try await Task.sleep(for: .seconds(0.5))
        let start = ContinuousClock.now
        try shop.sql("UPDATE country SET name = 'x' WHERE id = 1; INSERT INTO extra VALUES(2);")
        #expect(ContinuousClock.now - start < .seconds(2))
        _ = try await (report, opening)
        try shop.sql("UPDATE extra SET id = 3 WHERE id = 1")
        #expect(try shop.sql("SELECT count(*) FROM polystore_log WHERE source = 'extra'") != ["0"])
    }

    @Test func openingAgainTakesNoLockOfATable() throws {
        let shop = try InPlaceDatabase(.postgresql)
        try OpenDatabase(shop.url).close()
        try shop.sql("CREATE TABLE extra(id int PRIMARY KEY)")
        let triggers =
            "SELECT string_agg(t.oid::text, ' ' ORDER BY t.oid) FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid "
            + "WHERE c.relnamespace = '\(shop.name)'::regnamespace AND c.relname <> 'extra' AND NOT t.tgisinternal"
        let before = try shop.sql(triggers)
        try OpenDatabase(shop.url).close()
        #expect(try shop.sql(triggers) == before)
        #expect(try shop.sql("INSERT INTO extra VALUES(1); SELECT count(*) FROM polystore_log WHERE source = 'extra'") == ["1"])
    }

    @Test func theSequenceOfTheOwnerIsNeverSet() throws {
        let shop = try InPlaceDatabase(
            .postgresql,
            "CREATE TABLE a(id serial PRIMARY KEY, n int); INSERT INTO a(n) VALUES(1), (2); INSERT INTO a VALUES(2147483647, 0), (4, 0), (5, 0);"
        )
        let stack = try shop.stack()
        for expected in [3, 6] as [Int64] {
            let key = try stack.perform(synchronous: { try $0.make("a", ["n": .int(3)]).objectID.key.key })
            #expect(key == expected)
        }
        #expect(try shop.sql("INSERT INTO a(n) VALUES(9) RETURNING id") == ["7"])
    }

    /// Ids of transactions mean something else in the cluster that a dump is restored in.
    @Test func aRestoreInAnotherClusterRestartsTheHistory() throws {
        let shop = try InPlaceDatabase(.postgresql)
        try OpenDatabase(shop.url).close()
        // As if the cluster before had had many more transactions.
        try shop.sql("UPDATE customer SET name = 'a' WHERE id = 1; UPDATE polystore_log SET position = position + 1000000;")
        try shop.sql(
            "INSERT INTO polystore_notes VALUES('history.cluster', '1 0') ON CONFLICT (name) DO UPDATE SET value = excluded.value")
        let position = try #require(Int64(try shop.sql("SELECT max(position) FROM polystore_log").first ?? ""))
        let open = try OpenDatabase(shop.url), old = HistoryToken(store: open.id, position: position)
        try shop.sql("UPDATE customer SET name = 'b' WHERE id = 1")
        #expect(failure { _ = try open.history(since: old, changes: 0) }?.code == .tokenExpired)
        let found = try open.history(changes: 1)
        #expect(found.flatMap { Array($0.changes) }.map(\.key) == [1])
        #expect(found.allSatisfy { $0.token.position > position })
        let token = try #require(found.last?.token)
        try shop.sql("UPDATE customer SET name = 'c' WHERE id = 2")
        #expect(try OpenDatabase(shop.url).history(since: token, changes: 1).flatMap { Array($0.changes) }.map(\.key) == [2])
    }

    /// A statement on a table changes rows of those that inherit from it, too.
    @Test func rowsOfTablesThatInheritAreSeen() throws {
        let shop = try InPlaceDatabase(
            .postgresql,
            """
            CREATE TABLE animal(id int PRIMARY KEY, name text); CREATE TABLE dog(PRIMARY KEY(id), age int) INHERITS (animal);
            INSERT INTO animal VALUES(1, 'a'); INSERT INTO dog VALUES(1, 'd', 3), (2, 'e', 4);
            """)
        let stack = try shop.stack(), open = try OpenDatabase(shop.url), work = stack.beginUnsafe()
        try #require(try work.edit(try stack.object("dog", 2))).setValue(.int(5), for: "age")
        try shop.sql("UPDATE animal SET name = 'x' WHERE id = 2; UPDATE animal SET name = 'y' WHERE id = 1; DELETE FROM ONLY animal;")
        #expect(failure { try work.commit() }?.code == .staleObject)
        let animal = try #require(open.schema.index(of: "animal")), dog = try #require(open.schema.index(of: "dog"))
        let changes = try open.history(changes: 4).flatMap { Array($0.changes) }
        #expect(Set(changes.map { [$0.entity, Int($0.key)] }) == [[dog, 2], [animal, 1], [dog, 1]])
    }

    /// A row may be written through its table or directly in its partition.
    @Test func rowsOfPartitionsAreSeen() throws {
        let shop = try InPlaceDatabase(
            .postgresql,
            """
            CREATE TABLE log(id int PRIMARY KEY, n int) PARTITION BY RANGE (id);
            CREATE TABLE low PARTITION OF log FOR VALUES FROM (0) TO (100);
            CREATE TABLE high PARTITION OF log FOR VALUES FROM (100) TO (200) PARTITION BY RANGE (id);
            CREATE TABLE higher PARTITION OF high FOR VALUES FROM (100) TO (150);
            INSERT INTO log VALUES(1, 0), (2, 0), (101, 0);
            """)
        let stack = try shop.stack(), open = try OpenDatabase(shop.url), work = stack.beginUnsafe()
        try #require(try work.edit(try stack.object("log", 2))).setValue(.int(5), for: "n")
        try shop.sql(
            """
            UPDATE low SET n = 1 WHERE id = 2; UPDATE log SET n = 1 WHERE id = 1; DELETE FROM higher; INSERT INTO high VALUES(102, 0);
            """)
        #expect(failure { try work.commit() }?.code == .staleObject)
        let changes = try open.history(changes: 4).flatMap { Array($0.changes) }
        #expect(changes.map(\.key) == [2, 1, 101, 102])
        #expect(changes.filter { $0.kind == .delete }.map(\.key) == [101] && changes.last?.kind == .insert)
        // The same holds in a partition that comes later.
        let token = try open.token()
        try shop.sql(
            """
            CREATE TABLE last PARTITION OF high FOR VALUES FROM (150) TO (200); INSERT INTO last VALUES(160, 0); UPDATE last SET n = 1;
            """)
        #expect(try open.history(since: token, changes: 2).flatMap { Array($0.changes) }.map(\.key) == [160, 160])
    }

    @Test func aTableThatBeginsToInheritHasToBeOpenedAgain() throws {
        let shop = try InPlaceDatabase(
            .postgresql,
            """
            CREATE TABLE animal(id int PRIMARY KEY, name text); CREATE TABLE dog(id int PRIMARY KEY, name text);
            INSERT INTO dog VALUES(2, 'd');
            """)
        let stack = try shop.stack(), work = stack.beginUnsafe()
        try #require(try work.edit(try stack.object("dog", 2))).setValue(.string("e"), for: "name")
        try shop.sql("ALTER TABLE dog INHERIT animal; UPDATE animal SET name = 'x';")
        #expect(failure { try work.commit() }?.code == .schemaMismatch)
        #expect(try shop.sql("SELECT name FROM dog") == ["x"])
    }

    /// A role of its own may switch triggers off for its session.
    @Test func aSessionThatReplicatesIsSeen() throws {
        let shop = try InPlaceDatabase(.postgresql)
        try OpenDatabase(shop.url).close()
        try shop.sql("SET session_replication_role = replica; UPDATE customer SET name = 'r' WHERE id = 1;")
        #expect(try shop.sql("SELECT source, key, kind FROM polystore_log") == ["customer|1|u"])
    }
}
