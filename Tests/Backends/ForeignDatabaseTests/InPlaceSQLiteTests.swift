import Foundation
import Polystore
import PolystoreSQLite
import PolystoreStorage
import RawSessions
import TestStores
import Testing

/// What is special to SQLite files that are used in place: forms of values, settings of the file, and statements of its own.
@Suite struct InPlaceSQLiteTests {
    private func change(_ script: String, _ values: [String: Value]) throws -> InPlaceDatabase {
        let database = try InPlaceDatabase(.sqlite, script)
        try database.stack().perform(synchronous: { transaction in
            let object = try transaction.object("a", 1)
            for (name, value) in values { try object.setValue(value, for: name) }
        })
        return database
    }

    private static let instant = Value.date(1_612_325_106_250_000), day = Value.date(1_612_310_400_000_000)

    @Test(arguments: [
        ("d DATE", "NULL", day, "text|2021-02-03"), ("d DATE", "NULL", instant, "text|2021-02-03 04:05:06.25"),
        ("d DATETIME", "'2020-01-01T00:00:00Z'", instant, "text|2021-02-03 04:05:06.25"),
        ("d TIMESTAMP", "NULL", day, "text|2021-02-03 00:00:00"), ("d TIMESTAMP", "5", day, "integer|1612310400"),
        ("d DATETIME", "1.5", instant, "real|1612325106.25"), ("d BOOLEAN", "'true'", .bool(false), "integer|0"),
        ("d DECIMAL(10,2)", "1", .decimal(Decimal(string: "19.99") ?? 0), "real|19.99"),
        ("d DECIMAL(10,2)", "1.5", .decimal(20), "integer|20"),
        (
            "d UUID", "NULL", .uuid(UUID(uuidString: "6BA7B810-9DAD-11D1-80B4-00C04FD430C8") ?? UUID()),
            "text|6ba7b810-9dad-11d1-80b4-00c04fd430c8"
        ),
        ("d VARCHAR(10)", "'x'", .string("007"), "text|007"), ("d", "'x'", .string("007"), "text|007"),
        ("d JSON", "NULL", .string("{}"), "text|{}"),
        ("d BLOB", "x'01'", .data(Data([0])), "blob|00"), ("d REAL", "NULL", .double(3), "real|3.0"),
    ]) func valuesGetTheFormOfTheColumn(_ declared: String, _ there: String, _ value: Value, _ expected: String) throws {
        let database = try change("CREATE TABLE a(id INTEGER PRIMARY KEY, \(declared)); INSERT INTO a VALUES(1, \(there));", ["d": value])
        let shown = expected.hasPrefix("blob") ? "hex(d)" : "d"
        #expect(try database.sql("SELECT typeof(d), \(shown) FROM a") == [expected])
        let reader = try OpenDatabase(database.url)
        #expect(reader.readingFailure == nil)
    }

    @Test func aRemarkSaysWhatIsNotDetected() throws {
        let shop = try InPlaceDatabase(
            .sqlite,
            """
            CREATE TABLE a(id INTEGER PRIMARY KEY, n TEXT); CREATE UNIQUE INDEX lower_n ON a(lower(n));
            CREATE UNIQUE INDEX some_n ON a(n) WHERE n > 'b';
            """)
        #expect(
            try OpenDatabase(shop.url).remarks == [
                "the unique index lower_n of a is left out: it is partial or over expressions, so that a row which REPLACE removes because "
                    + "of it is not detected",
                "the unique index some_n of a is left out: it is partial or over expressions",
            ])
    }

    @Test func aUUIDIsBytesWhereTheNewestIs() throws {
        let id = UUID()
        let database = try change(
            "CREATE TABLE a(id INTEGER PRIMARY KEY, d GUID); INSERT INTO a VALUES(1, x'000102030405060708090a0b0c0d0e0f');",
            ["d": .uuid(id)])
        #expect(try database.sql("SELECT hex(d) FROM a") == [id.uuidString.replacing("-", with: "")])
    }

    @Test(arguments: [
        ("d DECIMAL", Value.decimal(Decimal(string: "1234567890123456789.5") ?? 0)), ("d TIME", .string("10")),
        ("d STRING", .string(" 1e3 ")),
    ]) func valuesThatAColumnCannotStoreExactlyAreRefused(_ declared: String, _ value: Value) throws {
        let refused = failure {
            _ = try change("CREATE TABLE a(id INTEGER PRIMARY KEY, \(declared)); INSERT INTO a(id) VALUES(1);", ["d": value])
        }
        #expect(refused?.code == .valueNotStorable)
        #expect(refused?.message == "a.d cannot store the value exactly in the form that SQLite uses for its declared type")
    }

    @Test func settingsOfTheFileStay() throws {
        let shop = try InPlaceDatabase(.sqlite),
            settings = "PRAGMA journal_mode; PRAGMA page_size; PRAGMA application_id; PRAGMA user_version;"
        let before = try shop.sql(settings)
        try shop.stack().perform(synchronous: { try $0.object("customer", 1).setValue(.string("x"), for: "name") })
        #expect(try shop.sql(settings) == before)
        #expect(before.first == "delete")
    }

    /// With a rollback journal a commit waits until nobody reads, and whoever begins to read waits for it.
    @Test func observersDoNotHoldUpCommits() throws {
        let database = try InPlaceDatabase(.sqlite, "CREATE TABLE a(id INTEGER PRIMARY KEY, n INT); INSERT INTO a VALUES(1, 0), (2, 0);")
        let stack = try database.stack(), all = From<DynamicObject>(entity: "a")
        let list = try stack.publishList(all.limit(1)), object = try stack.publishObject(try stack.object("a", 1))
        let count = try stack.publishValue { try $0.fetchCount(all) }
        for number in 1...150 {
            try stack.perform(synchronous: { try $0.object("a", 1).setValue(.int(Int64(number)), for: "n") })
        }
        #expect(list.snapshot.count == 1 && count.value == 2)
        for _ in 0..<10_000 where object.snapshot?.value("n") != .int(150) { usleep(1000) }
        #expect(object.snapshot?.value("n") == .int(150))
    }

    @Test func openingOnceMoreOrToReadWritesNothing() throws {
        let path = try ForeignDatabases.sqlite(InPlaceScript.sqlite)
        func bytes() throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }
        let first = try bytes()
        let reading = try OpenDatabase("sqlite:\(path)?catalog=inplace&mode=ro")
        #expect(try reading.lines() == InPlaceScript.lines)
        #expect(failure { _ = try reading.store.beginWrite(WriteOptions()) }?.code == .readOnly)
        #expect(try bytes() == first)
        try OpenDatabase("sqlite:\(path)?catalog=inplace").close()
        let second = try bytes()
        #expect(second != first)
        try OpenDatabase("sqlite:\(path)?catalog=inplace").close()
        #expect(try bytes() == second)
    }

    @Test func columnsThatCannotBeWrittenAreNamed() throws {
        let refused = failure {
            _ = try InPlaceDatabase(.sqlite, "CREATE TABLE a(id INTEGER PRIMARY KEY, x NOT NULL); INSERT INTO a VALUES(1, 1), (2, 'x');")
                .stack()
        }
        #expect(refused?.message.contains("a: the column x requires a value and cannot be written") == true)
        let database = try InPlaceDatabase(.sqlite, "CREATE TABLE a(id INTEGER PRIMARY KEY, n INT, twice INT AS (n * 2));")
        let stack = try database.stack()
        try stack.perform(synchronous: { _ = try $0.make("a", ["n": .int(4)]) })
        #expect(try database.sql("SELECT id, n, twice FROM a") == ["1|4|8"])
        #expect(try OpenDatabase(database.url).remarks == ["a.twice is left out: it is a generated column"])
    }

    @Test func aReplacedRowIsReported() throws {
        let shop = try InPlaceDatabase(.sqlite), stack = try shop.stack(), work = stack.beginUnsafe()
        try #require(try work.edit(try stack.object("country", 2))).setValue(.string("x"), for: "name")
        try shop.sql("INSERT OR REPLACE INTO country VALUES(2, 'DE', 'Deutschland')")
        #expect(failure { try work.commit() }?.code == .staleObject)
        try shop.sql(
            "INSERT INTO country VALUES(2, 'DE', 'D') ON CONFLICT(id) DO UPDATE SET name = excluded.name; REPLACE INTO country VALUES(2, 'DE', 'E');"
        )
        #expect(try stack.object("country", 2).value("name") == .string("E"))
    }

    @Test func rowsThatAreNotReplacedKeepTheirVersion() throws {
        let shop = try InPlaceDatabase(.sqlite), open = try OpenDatabase(shop.url)
        try shop.sql(
            """
            INSERT INTO category VALUES(-1, 'below', NULL);
            INSERT OR IGNORE INTO country VALUES(2, 'DE', 'x'); INSERT OR IGNORE INTO country VALUES(9, 'AT', 'x');
            INSERT INTO category(name) VALUES('new'); INSERT INTO country(code, name) VALUES('FR', 'France');
            """)
        let lines = try open.lines()
        for line in [
            #"{"entity":"country","key":2,"version":1,"code":"DE","name":"Germany"}"#,
            #"{"entity":"country","key":1,"version":1,"code":"AT","name":"Austria"}"#,
            #"{"entity":"category","key":-1,"version":1,"name":"below"}"#,
        ] { #expect(lines.contains(line)) }
    }

    /// REPLACE removes rows that have one of the unique values, and no trigger of theirs is told.
    @Test(arguments: ["INSERT OR REPLACE INTO country VALUES(7, 'DE', 'D')", "UPDATE OR REPLACE country SET code = 'DE' WHERE id = 1"])
    func aRowThatIsReplacedByAnotherIsGone(_ statement: String) throws {
        let shop = try InPlaceDatabase(
            .sqlite,
            "CREATE TABLE country(id INTEGER PRIMARY KEY, code TEXT COLLATE NOCASE, name TEXT);"
                + "CREATE UNIQUE INDEX codes ON country(code); INSERT INTO country VALUES(1, 'AT', 'A'), (2, 'de', 'G');")
        let stack = try shop.stack(), open = try OpenDatabase(shop.url), work = stack.beginUnsafe()
        try #require(try work.edit(try stack.object("country", 2))).setValue(.string("mine"), for: "name")
        try shop.sql("\(statement); INSERT INTO country VALUES(2, 'XX', 'theirs');")
        #expect(failure { try work.commit() }?.code == .staleObject)
        let changes = try open.history(changes: 3).flatMap { Array($0.changes) }
        #expect(changes.filter { $0.kind == .delete }.map(\.key) == [2])
        #expect(changes.last == HistoryChange(entity: 0, key: 2, kind: .insert) && changes.count == 3)
        #expect(try shop.sql("SELECT name FROM country WHERE id = 2") == ["theirs"])
    }

    @Test func statisticsAreNotAChangeOfTheTables() throws {
        let shop = try InPlaceDatabase(.sqlite), stack = try shop.stack()
        try shop.sql("ANALYZE; CREATE TABLE other(x); CREATE INDEX names ON customer(name);")
        try stack.perform(synchronous: { try $0.object("customer", 1).setValue(.string("x"), for: "name") })
        #expect(try shop.sql("SELECT name FROM customer WHERE id = 1") == ["x"])
    }

    @Test func statementsReachTheTablesThemselves() throws {
        let shop = try InPlaceDatabase(.sqlite), open = try OpenDatabase(shop.url), writer = try open.store.beginWrite(WriteOptions())
        #expect(try writer.execute("UPDATE main.customer SET name = \("Adele") WHERE id = 1") == 1)
        #expect(failure { _ = try writer.execute("UPDATE main.polystore_versions SET version = 7") }?.code == .invalidPredicate)
        _ = try writer.commit(CommitRecord(author: "sql"))
        #expect(try shop.sql("SELECT name FROM customer WHERE id = 1") == ["Adele"])
        #expect(try open.lines().contains { $0.hasPrefix(#"{"entity":"customer","key":1,"version":2,"#) })
    }

    @Test func rowsAreAddedOrChangedByAUniqueKey() throws {
        let shop = try InPlaceDatabase(.sqlite), open = try OpenDatabase(shop.url), country = try #require(open.schema.index(of: "country"))
        var mask = SlotMask()
        for slot in [0, 1] { mask.insert(slot) }
        let rows = RowSource(count: 2) { range, batch in
            for index in range {
                let cells = batch.appendRow(key: 3 + Int64(index), version: 1, entity: country, slots: 2)
                cells[0] = batch.cell(for: .string(["DE", "FR"][index]))
                cells[1] = batch.cell(for: .string("new"))
            }
        }
        let writer = try open.store.beginWrite(WriteOptions())
        let result = try writer.upsert(
            RowUpsert(entity: country, constraint: open.schema[country].uniqueConstraints[0], mask: mask, rows: rows))
        _ = try writer.commit(CommitRecord(author: ""))
        #expect(result.map(\.key) == [2, 4])
        #expect(result.map(\.isInserted) == [false, true])
        #expect(try shop.sql("SELECT id, code, name FROM country ORDER BY id") == ["1|AT|Austria", "2|DE|new", "4|FR|new"])
    }

    @Test func aReferenceToADeletedRowIsReportedAtTheCommit() throws {
        let shop = try InPlaceDatabase(.sqlite), stack = try shop.stack(), work = stack.beginUnsafe()
        let order = try work.create(Into<DynamicObject>(entity: "order"))
        try order.setValue(.date(0), for: "placed_at")
        try order.setObject(try work.edit(try stack.object("customer", 2)), for: "customer")
        try shop.sql("DELETE FROM customer WHERE id = 2")
        let refused = failure { try work.commit() }
        #expect(refused?.code == .staleObject)
        #expect(refused?.message == "customer 2 is referenced here, but was deleted by another transaction")
    }

    @Test func aTransactionIsReportedAndPurgedAsAWhole() throws {
        let shop = try InPlaceDatabase(.sqlite), stack = try shop.stack(), open = try OpenDatabase(shop.url)
        for name in ["a", "b"] {
            try stack.perform(synchronous: { transaction in
                for (entity, key) in [("customer", 1), ("customer", 2), ("category", 1)] as [(String, Int64)] {
                    try transaction.object(entity, key).setValue(.string(name), for: "name")
                }
            })
        }
        func history(_ position: Int64?) throws -> [HistoryEntry] {
            let reader = try open.store.beginRead()
            defer { reader.end() }
            return try reader.history(since: position.map { HistoryToken(store: open.id, position: $0) }, limit: 10)
        }
        func purge(_ position: Int64) throws {
            let writer = try open.store.beginWrite(WriteOptions())
            defer { writer.end() }
            try writer.purgeHistory(through: HistoryToken(store: open.id, position: position))
            _ = try writer.commit(CommitRecord())
        }
        let all = try history(nil)
        try #require(all.map(\.changes.count) == [3, 3] && all[0].token.position > 2)
        for position in 0...all[1].token.position {
            #expect(try history(position) == all.filter { $0.token.position > position }, "\(position)")
        }
        #expect(try history(.max).isEmpty)
        // A position within a transaction is before it.
        try purge(all[0].token.position - 1)
        #expect(try history(nil) == all)
        try purge(all[1].token.position - 1)
        #expect(try history(nil) == [all[1]])
        #expect(failure { _ = try history(all[0].token.position - 1) }?.code == .tokenExpired)
        #expect(try history(all[0].token.position) == [all[1]])
        try purge(.max)
        #expect(try history(nil).isEmpty)
    }

    @Test func manualRemovalTakesTwoStatements() throws {
        let shop = try InPlaceDatabase(.sqlite), before = try shop.objects()
        try OpenDatabase(shop.url).close()
        // As the documentation says it.
        let drops = try shop.sql(
            "SELECT 'DROP ' || type || ' \"' || name || '\";' FROM sqlite_master WHERE type IN ('table', 'trigger') AND name LIKE 'polystore\\_%' ESCAPE '\\' ORDER BY type DESC"
        )
        try shop.sql(drops.joined(separator: "\n"))
        #expect(try shop.objects() == before)
    }
}
