import Foundation
import Polystore
import PolystoreCatalog
import PolystoreStorage
import TestStores
import Testing

/// Tables whose rows cannot be objects that are written in place, beside tables whose rows can.
@Suite struct InPlaceLeftOutTests {
    private static let script = """
        CREATE TABLE country(code varchar(2) PRIMARY KEY, name varchar(40));
        CREATE TABLE book(id integer PRIMARY KEY, country varchar(2) REFERENCES country(code), title varchar(40) NOT NULL);
        CREATE TABLE word(book_id integer REFERENCES book(id), word varchar(40), PRIMARY KEY(book_id, word));
        CREATE TABLE grdb_migrations(identifier varchar(40) NOT NULL PRIMARY KEY);
        INSERT INTO country VALUES('LV', 'Latvia'), ('NO', 'Norway'); INSERT INTO book VALUES(1, 'NO', 'A');
        INSERT INTO word VALUES(1, 'a'); INSERT INTO grdb_migrations VALUES('v1');
        """

    @Test(arguments: InPlaceEngine.available) func tablesWithoutAnIntegerKeyAreLeftOut(_ engine: InPlaceEngine) throws {
        let database = try InPlaceDatabase(engine, Self.script)
        let remarks = try OpenDatabase(database.url).remarks
        #expect(
            remarks.filter { $0.hasPrefix("the table") } == [
                "the table country is left out: it has the primary key code, which is not an integer",
                "the table grdb_migrations is left out: it has the primary key identifier, which is not an integer",
                "the table word is left out: it has a primary key of several columns (book_id, word)",
            ])
        let stack = try database.stack()
        #expect(stack.schema.entities.map(\.name) == ["book"] && stack.schema.entities[0].relationships.isEmpty)
        try stack.perform(synchronous: { transaction in
            _ = try transaction.make("book", ["title": .string("B"), "country": .string("LV")])
            try transaction.object("book", 1).setValue(.string("LV"), for: "country")
        })
        #expect(try database.sql("SELECT id, country, title FROM book ORDER BY id") == ["1|LV|A", "2|LV|B"])
        let refused = failure { try stack.perform(synchronous: { try $0.object("book", 1).setValue(.string("XX"), for: "country") }) }
        #expect(refused?.code == .validationFailed)
        let denied = failure {
            try stack.perform(synchronous: { transaction in try transaction.delete(try transaction.object("book", 1)) })
        }
        #expect(denied?.code == .deleteDenied)
        #expect(try database.sql("SELECT count(*) FROM word") == ["1"])
    }

    @Test(arguments: InPlaceEngine.available) func aModelWithALeftOutTableIsRefusedWithStatementsThatRun(_ engine: InPlaceEngine) throws {
        let database = try InPlaceDatabase(
            engine,
            Self.script + " CREATE INDEX names ON country(name);"
                + (engine == .sqlite ? " CREATE VIEW names_of AS SELECT name FROM country;" : ""))
        let model = try Schema(entities: [Entity("country"), Entity("book")])
        let refused = failure { try DataStack(schema: model).addStorageAndWait(StoreCatalog.standard.store(at: StoreURL(database.url))) }
        #expect(refused?.code == .unsupported)
        let message = refused?.message ?? ""
        #expect(
            message.hasPrefix(
                "the database has tables that cannot be used in place: country: it has the primary key code, which is not an integer. "
                    + "What to do: give each such table an integer primary key of one column, as in: "))
        let start = try #require(message.range(of: "as in: ")?.upperBound), end = try #require(message.range(of: " Or open")?.lowerBound)
        try database.sql(String(message[start..<end]))
        let stack = try database.stack()
        #expect(stack.schema.entities.map(\.name) == ["book", "country"])
        #expect(try stack.object("book", 1).object("country")?.objectID.key == stack.object("country", 2).objectID.key)
        #expect(stack.schema.entities[1].uniqueConstraints.map(\.properties) == [["code"]])
        let indexes =
            engine == .sqlite
            ? "sqlite_master WHERE name = 'names'" : "pg_indexes WHERE schemaname = '\(database.name)' AND indexname = 'names'"
        #expect(try database.sql("SELECT count(*) FROM \(indexes)") == ["1"])
        #expect(throws: (any Error).self) { try database.sql("INSERT INTO book VALUES(9, 'XX', 'x')") }
    }

    @Test(arguments: [
        (
            "CREATE TABLE a(\"x y\" TEXT PRIMARY KEY DESC, n INT DEFAULT -1, b BLOB DEFAULT x'0aff', r REAL DEFAULT 1e-5, t TEXT DEFAULT 'it''s') STRICT",
            "x y"
        ),
        (
            "CREATE TABLE a(id TEXT CHECK (id <> 'PRIMARY KEY'), n INT, twice INT AS (n * 2), CONSTRAINT k PRIMARY KEY(id)) WITHOUT ROWID",
            "id"
        ),
        ("CREATE TABLE a(note TEXT /* a comment, with ( */, n)", "note"),
    ]) func theStatementsKeepTheTable(_ creation: String, _ column: String) throws {
        let database = try InPlaceDatabase(
            .sqlite, "\(creation); INSERT INTO a(\"\(column)\", n) VALUES('u', 3); CREATE TABLE b(id INTEGER PRIMARY KEY, a TEXT);")
        let model = try Schema(entities: [Entity("a")])
        let refused = failure { try DataStack(schema: model).addStorageAndWait(StoreCatalog.standard.store(at: StoreURL(database.url))) }
        let message = try #require(refused?.message)
        let start = try #require(message.range(of: "as in: ")?.upperBound), end = try #require(message.range(of: " Or open")?.lowerBound)
        try database.sql(String(message[start..<end]))
        #expect(try database.sql("SELECT \"\(column)\", n FROM a") == ["u|3"])
        #expect(try database.stack().schema.index(of: "a") != nil)
    }

    /// Tables that refer to the keys of others without naming their columns, also a table to itself.
    private static let unnamed = """
        CREATE TABLE country(code TEXT PRIMARY KEY, name TEXT, part_of TEXT REFERENCES "Country") STRICT;
        CREATE TABLE book(id INTEGER PRIMARY KEY AUTOINCREMENT, country TEXT REFERENCES [country] ON DELETE SET NULL, title TEXT);
        CREATE TABLE tour(a TEXT, b TEXT, id INTEGER PRIMARY KEY,
            FOREIGN KEY(a) REFERENCES Country DEFERRABLE INITIALLY DEFERRED, FOREIGN KEY(b) REFERENCES country(code));
        CREATE TABLE visit(id INT PRIMARY KEY, country TEXT NOT NULL REFERENCES country /* its key */) WITHOUT ROWID;
        CREATE INDEX titles ON book(title) WHERE title <> '('; CREATE VIEW names_of AS SELECT title FROM book;
        CREATE TRIGGER entitle AFTER INSERT ON book WHEN NEW.title IS NULL BEGIN UPDATE book SET title = 'new' WHERE id = NEW.id; END;
        INSERT INTO country VALUES('EU', 'Europe', NULL), ('LV', 'Latvia', 'EU'); INSERT INTO tour VALUES('LV', 'EU', 7);
        INSERT INTO book VALUES(1, 'LV', 'A'), (2, NULL, 'B'), (9, 'LV', 'C'); DELETE FROM book WHERE id = 9; INSERT INTO visit VALUES(3, 'LV');
        """

    @Test func foreignKeysWithoutColumnsReferToTheFormerKeyAfterTheStatements() throws {
        let database = try InPlaceDatabase(.sqlite, Self.unnamed)
        let queries = [
            "SELECT code, name, part_of FROM country ORDER BY 1", "SELECT * FROM book ORDER BY id", "SELECT * FROM tour",
            "SELECT * FROM visit", "SELECT * FROM names_of ORDER BY 1", "SELECT seq FROM sqlite_sequence WHERE name = 'book'",
            "SELECT type, name, tbl_name FROM sqlite_master WHERE name IN ('titles', 'entitle', 'names_of', 'book', 'tour', 'visit') ORDER BY 1, 2",
        ]
        let before = try queries.map(database.sql)
        let model = try Schema(entities: [Entity("country"), Entity("book")])
        let refused = failure { try DataStack(schema: model).addStorageAndWait(StoreCatalog.standard.store(at: StoreURL(database.url))) }
        let message = try #require(refused?.message)
        let start = try #require(message.range(of: "as in: ")?.upperBound), end = try #require(message.range(of: " Or open")?.lowerBound)
        try database.sql(String(message[start..<end]))
        #expect(try queries.map(database.sql) == before)
        #expect(try database.sql("PRAGMA foreign_key_check").isEmpty)
        #expect(try database.sql("PRAGMA integrity_check") == ["ok"])
        for table in ["country", "book", "tour", "visit"] {
            let targets = try database.sql("SELECT DISTINCT lower(\"table\"), \"to\" FROM pragma_foreign_key_list('\(table)')")
            #expect(targets == ["country|code"])
        }
        let actions = "SELECT on_delete FROM pragma_foreign_key_list('book')"
        #expect(try database.sql(actions) == ["SET NULL"])
        #expect(throws: (any Error).self) { try database.sql("INSERT INTO visit VALUES(4, 'XX')") }
        try database.sql("INSERT INTO book(country) VALUES('EU')")
        #expect(try database.sql("SELECT id, title FROM book WHERE country = 'EU'") == ["10|new"])
        let stack = try database.stack()
        #expect(stack.schema.entities.map(\.name).sorted() == ["book", "country", "tour", "visit"])
        let latvia = try #require(try stack.object("book", 1).object("country") as? DynamicObject)
        #expect(try latvia.value("name") == .string("Latvia"))
        #expect(try (latvia.object("part_of") as? DynamicObject)?.value("name") == .string("Europe"))
    }

    @Test func theStatementsKeepIndexesAndTriggersWithComments() throws {
        let database = try InPlaceDatabase(
            .sqlite,
            """
            CREATE TABLE country(code TEXT PRIMARY KEY, name TEXT, size INT); CREATE TABLE seen(id INTEGER PRIMARY KEY, name TEXT);
            CREATE TRIGGER note AFTER INSERT ON country BEGIN
                -- the name; and nothing else
                INSERT INTO seen(name) VALUES(NEW.name); -- once
            END;
            INSERT INTO country VALUES('LV', 'Latvia', 1);
            """)
        // Without a semicolon, as programs run statements: the comment is the end of the text.
        for index in ["INDEX names ON country(name) -- by name", "UNIQUE INDEX sizes ON country(size) -- one of each; END"] {
            try ForeignDatabases.run("sqlite3", ["-bail", database.name, "CREATE \(index)"], "")
        }
        let stored = try database.sql("SELECT sql FROM sqlite_master WHERE name = 'names'")
        #expect(stored == ["CREATE INDEX names ON country(name) -- by name"])
        let query = "SELECT type, name, tbl_name FROM sqlite_master WHERE tbl_name = 'country' AND sql IS NOT NULL ORDER BY 1, 2"
        let before = try database.sql(query)
        #expect(before == ["index|names|country", "index|sizes|country", "table|country|country", "trigger|note|country"])
        let model = try Schema(entities: [Entity("country")])
        let refused = failure { try DataStack(schema: model).addStorageAndWait(StoreCatalog.standard.store(at: StoreURL(database.url))) }
        let message = try #require(refused?.message)
        let start = try #require(message.range(of: "as in: ")?.upperBound), end = try #require(message.range(of: " Or open")?.lowerBound)
        try database.sql(String(message[start..<end]))
        #expect(try database.sql(query) == before)
        #expect(try database.sql("SELECT id, code, name, size FROM country") == ["1|LV|Latvia|1"])
        try database.sql("INSERT INTO country(code, name, size) VALUES('NO', 'Norway', 2)")
        #expect(try database.sql("SELECT name FROM seen ORDER BY id") == ["Latvia", "Norway"])
        #expect(throws: (any Error).self) { try database.sql("INSERT INTO country(code, name, size) VALUES('EU', 'Europe', 2)") }
        #expect(try database.stack().schema.index(of: "country") != nil)
    }

    @Test func foreignKeysToSeveralColumnsAreNamedByTheStatements() throws {
        let database = try InPlaceDatabase(
            .sqlite,
            """
            CREATE TABLE word(book INT, "n o" INT, PRIMARY KEY("n o", book));
            CREATE TABLE note(id INTEGER PRIMARY KEY, b INT, n INT, FOREIGN KEY(n, b) REFERENCES word);
            INSERT INTO word VALUES(5, 1), (5, 2); INSERT INTO note VALUES(1, 5, 2);
            """)
        let model = try Schema(entities: [Entity("word")])
        let refused = failure { try DataStack(schema: model).addStorageAndWait(StoreCatalog.standard.store(at: StoreURL(database.url))) }
        let message = try #require(refused?.message)
        let start = try #require(message.range(of: "as in: ")?.upperBound), end = try #require(message.range(of: " Or open")?.lowerBound)
        try database.sql(String(message[start..<end]))
        #expect(try database.sql("PRAGMA foreign_key_check").isEmpty)
        #expect(try database.sql("SELECT \"from\", \"to\" FROM pragma_foreign_key_list('note') ORDER BY seq") == ["n|n o", "b|book"])
        #expect(try database.sql("SELECT book, \"n o\" FROM word ORDER BY 2") == ["5|1", "5|2"])
        #expect(try database.stack().schema.entities.map(\.name).sorted() == ["note", "word"])
    }

    @Test func noStatementsAreSuggestedForAForeignKeyThatCannotNameTheFormerKey() throws {
        let database = try InPlaceDatabase(
            .sqlite,
            """
            CREATE TABLE word(book INT, n INT, PRIMARY KEY(book, n)); CREATE TABLE note(id INTEGER PRIMARY KEY, b INT REFERENCES word);
            """)
        let model = try Schema(entities: [Entity("word")])
        let refused = failure { try DataStack(schema: model).addStorageAndWait(StoreCatalog.standard.store(at: StoreURL(database.url))) }
        let message = try #require(refused?.message)
        #expect(refused?.code == .unsupported && !message.contains("CREATE TABLE"), "\(message)")
        #expect(
            message.contains(
                "integer primary key of one column, but first name the columns in the foreign keys that refer to word without columns: they "
                    + "would refer to the new key. Or open"), "\(message)")
    }

    @Test func aKeyBeyondTheLimitIsNamedAndItsRemovalMakesTheTableUsable() throws {
        let database = try InPlaceDatabase(
            .sqlite,
            "CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT, a TEXT); CREATE TABLE u(id INTEGER PRIMARY KEY); INSERT INTO t VALUES(1, 'x');"
        )
        let stack = try database.stack()
        // Another program adds such a row while the store is open.
        try database.sql("INSERT INTO t VALUES(4611686018427387905, 'y')")
        try stack.perform(synchronous: { _ = try $0.make("t", ["a": .string("z")]) })
        #expect(try database.sql("SELECT id FROM t WHERE a = 'z'") == ["2"])
        let refused = failure {
            _ = try DataStack(schema: stack.schema).addStorageAndWait(StoreCatalog.standard.store(at: StoreURL(database.url)))
        }
        #expect(
            refused?.message == """
                the database has tables that cannot be used in place: t: its primary key id has values outside the range of keys, \
                ±4611686018427387904; change or delete the rows that this finds: SELECT * FROM "t" WHERE "id" NOT BETWEEN \
                -4611686018427387904 AND 4611686018427387904. What to do: open the database with catalog=foreign, which reads it, and \
                transfer it to a Polystore store (polystore transfer FROM TO)
                """)
        try database.sql("DELETE FROM t WHERE id > 4611686018427387904")
        let again = try database.stack()
        try again.perform(synchronous: { _ = try $0.make("t", ["a": .string("w")]) })
        #expect(try database.sql("SELECT id FROM t WHERE a = 'w'") == ["3"])
    }

    @Test(arguments: InPlaceEngine.available) func literalDefaultsOfColumnsAreInitialValues(_ engine: InPlaceEngine) throws {
        let more = engine == .sqlite ? "e DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP" : "e timestamp NOT NULL DEFAULT now()"
        let database = try InPlaceDatabase(
            engine,
            """
            CREATE TABLE a(id integer PRIMARY KEY, i integer NOT NULL DEFAULT (-3), t varchar(20) NOT NULL DEFAULT 'it''s',
                b boolean NOT NULL DEFAULT \(engine == .sqlite ? "1" : "true"), d date NOT NULL DEFAULT '2020-01-31',
                p decimal(10,2) NOT NULL DEFAULT 9.5, n integer, k varchar(5) DEFAULT 'z' CHECK (k IN ('x', 'y')), \(more));
            INSERT INTO a(id, k) VALUES(1, NULL);
            """)
        let stack = try database.stack()
        let defaults = stack.schema.entities[0].attributes.map { "\($0.name) \($0.defaultValue.map { "\($0)" } ?? "-")" }
        #expect(defaults.filter { $0.hasSuffix(" -") } == ["n -", "k -", "e -"])
        try stack.perform(synchronous: { _ = try $0.make("a", ["e": .date(0)]) })
        let rows = try database.sql("SELECT i, t, b, d, p FROM a ORDER BY id")
        #expect(rows.count == 2 && rows.first == rows.last)
    }

    @Test func theFileOfAnotherProgramIsCompacted() throws {
        let shop = try InPlaceDatabase(.sqlite, InPlaceScript.sqlite + " CREATE INDEX names ON customer(name);")
        let store = try #require(try StoreCatalog.standard.store(at: StoreURL(shop.url)) as? any LocalStorage)
        let stack = try shop.stack()
        try stack.perform(synchronous: { try $0.object("customer", 1).setValue(.string("x"), for: "name") })
        let opened = try OpenStore(opening: store, OpenRequest(schema: nil))
        try store.compact()
        try opened.close()
        #expect(try shop.sql("PRAGMA integrity_check") == ["ok"])
        try stack.perform(synchronous: { try $0.object("customer", 1).setValue(.string("y"), for: "name") })
        #expect(try shop.sql("SELECT name FROM customer WHERE id = 1") == ["y"])
    }
}
