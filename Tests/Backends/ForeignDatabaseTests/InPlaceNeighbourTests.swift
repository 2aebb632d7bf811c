import Foundation
import Polystore
import PolystoreCatalog
import PolystoreStorage
import TestStores
import Testing

/// What the other programs of a database have and do beside us: their rows, rules and triggers stay as they are, and nothing that they
/// change is missed.
@Suite struct InPlaceNeighbourTests {
    private func set(_ stack: DataStack, _ entity: String, _ property: String, _ values: [Int64: String?]) throws {
        try stack.perform(synchronous: { transaction in
            // One change of all: what is fetched between two changes would write the first.
            for object in try transaction.fetchAll(From<DynamicObject>(entity: entity)) {
                guard let value = values[object.objectID.key.key] else { continue }
                try object.setValue(value.map { .string($0) } ?? .null, for: property)
            }
        })
    }

    // MARK: Unique values

    private static let followed = """
        CREATE TABLE country(id INTEGER PRIMARY KEY, code VARCHAR(9) UNIQUE);
        CREATE TABLE city(id INTEGER PRIMARY KEY, country_code VARCHAR(9) REFERENCES country(code) ON UPDATE CASCADE);
        INSERT INTO country VALUES(1, 'AT'), (2, 'DE'), (3, NULL); INSERT INTO city VALUES(1, 'AT'), (2, 'DE');
        """

    @Test(arguments: InPlaceEngine.available) func foreignKeysWithOnUpdateCascadeFollowAUniqueValue(_ engine: InPlaceEngine) throws {
        let shop = try InPlaceDatabase(engine, Self.followed), stack = try shop.stack()
        try set(stack, "country", "code", [1: "AUT", 2: "DEU"])
        #expect(try shop.sql("SELECT id, country_code FROM city ORDER BY id") == ["1|AUT", "2|DEU"])
        #expect(try shop.sql("SELECT id, code FROM country WHERE id < 3 ORDER BY id") == ["1|AUT", "2|DEU"])
    }

    @Test(arguments: InPlaceEngine.available) func anExchangeOfValuesWithOnUpdateCascadeIsRefused(_ engine: InPlaceEngine) throws {
        let shop = try InPlaceDatabase(engine, Self.followed), stack = try shop.stack()
        let refused = failure { try set(stack, "country", "code", [1: "DE", 2: "AT"]) }
        #expect(refused?.code == .unsupported)
        #expect(refused?.message.contains("city") == true && refused?.details.entity == "country")
        #expect(try shop.sql("SELECT id, country_code FROM city ORDER BY id") == ["1|AT", "2|DE"])
        #expect(try shop.sql("SELECT id, code FROM country WHERE id < 3 ORDER BY id") == ["1|AT", "2|DE"])
    }

    @Test(arguments: InPlaceEngine.available) func aCheckOverTwoColumnsHoldsDuringAnExchangeOfUniqueValues(_ engine: InPlaceEngine) throws {
        let shop = try InPlaceDatabase(
            engine,
            """
            CREATE TABLE person(id INTEGER PRIMARY KEY, email VARCHAR(9) UNIQUE, phone VARCHAR(9), CHECK (email IS NOT NULL OR phone IS NOT NULL));
            INSERT INTO person VALUES(1, 'a', NULL), (2, 'b', NULL);
            """)
        try set(try shop.stack(), "person", "email", [1: "c", 2: "d"])
        #expect(try shop.sql("SELECT email FROM person ORDER BY id") == ["c", "d"])
    }

    /// Values of two columns that are unique together, a chain of values, and a ring of them.
    @Test(arguments: InPlaceEngine.available) func valuesMoveFromRowToRow(_ engine: InPlaceEngine) throws {
        let shop = try InPlaceDatabase(
            engine,
            """
            CREATE TABLE seat(id INTEGER PRIMARY KEY, line VARCHAR(9), place VARCHAR(9), owner VARCHAR(9) UNIQUE, UNIQUE(line, place));
            INSERT INTO seat VALUES(1, 'a', '1', 'x'), (2, 'a', '2', 'y'), (3, 'b', '1', 'z'), (4, 'b', '2', NULL);
            """)
        let stack = try shop.stack()
        try set(stack, "seat", "owner", [1: "y", 2: "z", 3: "w"])
        #expect(try shop.sql("SELECT owner FROM seat WHERE id < 4 ORDER BY id") == ["y", "z", "w"])
        try set(stack, "seat", "owner", [1: "z", 2: "w", 3: "y", 4: "v"])
        #expect(try shop.sql("SELECT owner FROM seat ORDER BY id") == ["z", "w", "y", "v"])
        try set(stack, "seat", "place", [1: "2", 2: "1"])
        #expect(try shop.sql("SELECT line, place FROM seat ORDER BY id") == ["a|2", "a|1", "b|1", "b|2"])
        // The values of other rows are taken as ever.
        #expect(failure { try set(stack, "seat", "owner", [1: "v", 2: "u"]) }?.code == .uniqueConstraintViolated)
    }

    // MARK: Triggers of the owner

    @Test(arguments: InPlaceEngine.available) func changesThatATriggerForbidsAreRefused(_ engine: InPlaceEngine) throws {
        let tables = """
            CREATE TABLE a(id INTEGER PRIMARY KEY, n VARCHAR(9)); CREATE TABLE b(id INTEGER PRIMARY KEY);
            CREATE TABLE pair(a_id INTEGER REFERENCES a(id), b_id INTEGER REFERENCES b(id), PRIMARY KEY(a_id, b_id));
            INSERT INTO a VALUES(1, 'keep'), (2, 'keep'); INSERT INTO b VALUES(1), (2); INSERT INTO pair VALUES(1, 1);
            """
        let names = ["UPDATE ON a", "INSERT ON a", "DELETE ON a", "INSERT ON pair", "DELETE ON pair"]
        let shop = try InPlaceDatabase(
            engine,
            tables
                + names.enumerated().map { index, event in
                    switch engine {
                    case .sqlite: "CREATE TRIGGER veto\(index) BEFORE \(event) BEGIN SELECT RAISE(IGNORE); END;"
                    case .postgresql:
                        "CREATE FUNCTION veto\(index)() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;"
                            + "CREATE TRIGGER veto\(index) BEFORE \(event) FOR EACH ROW EXECUTE FUNCTION veto\(index)();"
                    }
                }.joined())
        let stack = try shop.stack()
        func refused(_ index: Int, _ body: (WriteTransaction) throws -> Void) throws {
            let refused = failure { try stack.perform(synchronous: { try body($0) }) }
            #expect(refused?.code == .validationFailed, "\(names[index]): \(refused?.description ?? "done")")
            #expect(refused?.message.contains("veto\(index)") == true, "\(refused?.message ?? "")")
        }
        try refused(0) { try $0.object("a", 1).setValue(.string("x"), for: "n") }
        try refused(1) { _ = try $0.make("a", ["n": .string("x")]) }
        try refused(2) { try $0.delete($0.object("a", 2)) }
        try refused(3) { try $0.object("a", 1).setObjects([$0.object("b", 1), $0.object("b", 2)], for: "b") }
        try refused(4) { try $0.object("a", 1).setObjects([], for: "b") }
        #expect(try shop.sql("SELECT id, n FROM a ORDER BY id") == ["1|keep", "2|keep"])
        #expect(try shop.sql("SELECT a_id, b_id FROM pair") == ["1|1"])
    }

    @Test(arguments: InPlaceEngine.available) func changesByATriggerAreReportedToo(_ engine: InPlaceEngine) throws {
        let table = "CREATE TABLE a(id INTEGER PRIMARY KEY, n VARCHAR(9), stamp VARCHAR(9)); INSERT INTO a VALUES(1, 'x', 'old');"
        let shop =
            switch engine {
            case .sqlite:
                try InPlaceDatabase(
                    engine,
                    table + "CREATE TRIGGER stamp AFTER UPDATE OF n ON a BEGIN UPDATE a SET stamp = 'new' WHERE id = NEW.id; END;")
            case .postgresql:
                try InPlaceDatabase(
                    engine,
                    table
                        + """
                        CREATE FUNCTION stamp() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.stamp := 'new'; RETURN NEW; END $$;
                        CREATE TRIGGER stamp BEFORE UPDATE ON a FOR EACH ROW EXECUTE FUNCTION stamp();
                        """)
            }
        let stack = try shop.stack(), open = try OpenDatabase(shop.url), view = stack.makeViewContext()
        let seen = try #require(try view.fetchAll(From<DynamicObject>(entity: "a")).first)
        #expect(try seen.value("stamp") == .string("old"))
        try set(stack, "a", "n", [1: "y"])
        let changes = try open.history(changes: 1).flatMap { Array($0.changes) }
        var all = SlotMask()
        for slot in open.schema[0].slots.indices { all.insert(slot) }
        #expect(changes == [HistoryChange(entity: 0, key: 1, kind: .update(all))])
        try view.merge()
        #expect(try seen.value("stamp") == .string("new"))
        #expect(try stack.object("a", 1).value("stamp") == .string("new"))
        // The object that was changed can be changed again, whatever the trigger did to it.
        let work = stack.beginUnsafe(), own = try #require(try work.edit(try stack.object("a", 1)))
        try shop.sql(
            engine == .sqlite
                ? "UPDATE a SET stamp = 'old'"
                : "ALTER TABLE a DISABLE TRIGGER stamp; UPDATE a SET stamp = 'old'; ALTER TABLE a ENABLE TRIGGER stamp")
        try work.refresh()
        for name in ["z", "w"] {
            try own.setValue(.string(name), for: "n")
            try work.commit()
            try work.refresh()
            #expect(try own.value("stamp") == .string("new"), "\(name)")
        }
    }

    // MARK: Gaps

    /// Between two openings our triggers were not there, or did not run.
    @Test(arguments: InPlaceEngine.available) func changesWithoutTriggersEndTheHistory(_ engine: InPlaceEngine) throws {
        let shop = try InPlaceDatabase(engine), stack = try shop.stack(), before = try OpenDatabase(shop.url), work = stack.beginUnsafe()
        try set(stack, "country", "name", [1: "A"])
        let old = try #require(try before.history(changes: 1).last?.token)
        try #require(try work.edit(try stack.object("category", 2))).setValue(.string("mine"), for: "name")
        switch engine {
        case .sqlite:
            try shop.sql(
                """
                PRAGMA foreign_keys = OFF; BEGIN; CREATE TABLE copy(id INTEGER PRIMARY KEY, name TEXT NOT NULL, parent_id INTEGER REFERENCES category ON DELETE SET NULL);
                INSERT INTO copy SELECT * FROM category; DROP TABLE category; ALTER TABLE copy RENAME TO category; COMMIT;
                UPDATE category SET name = 'theirs' WHERE id = 2;
                """)
        case .postgresql:
            try shop.sql(
                """
                ALTER TABLE category DISABLE TRIGGER ALL; UPDATE category SET name = 'theirs' WHERE id = 2;
                ALTER TABLE category ENABLE TRIGGER ALL;
                """)
        }
        let after = try OpenDatabase(shop.url)
        #expect(failure { _ = try after.history(since: old, changes: 0) }?.code == .tokenExpired)
        #expect(failure { try work.commit() }?.code == .schemaMismatch)
        #expect(failure { _ = try before.history(since: old, changes: 0) }?.code == .schemaMismatch)
        #expect(try shop.sql("SELECT name FROM category WHERE id = 2") == ["theirs"])
        // From here on all is seen again.
        let token = try after.token()
        try shop.sql("UPDATE category SET name = 'again' WHERE id = 2")
        #expect(try after.history(since: token, changes: 1).flatMap { Array($0.changes) }.map(\.key) == [2])
        #expect(failure { _ = try OpenDatabase(shop.url).history(since: token, changes: 1) } == nil)
    }

    /// A table that comes is no gap.
    @Test(arguments: InPlaceEngine.available) func aNewTableLeavesTheHistory(_ engine: InPlaceEngine) throws {
        let shop = try InPlaceDatabase(engine), stack = try shop.stack(), open = try OpenDatabase(shop.url)
        try set(stack, "country", "name", [1: "A"])
        let old = try #require(try open.history(changes: 1).last?.token)
        try shop.sql("CREATE TABLE extra(id INTEGER PRIMARY KEY, n INTEGER); INSERT INTO extra VALUES(1, 1);")
        let after = try OpenDatabase(shop.url)
        try shop.sql("UPDATE extra SET n = 2")
        #expect(try after.history(since: old, changes: 1).flatMap { Array($0.changes) }.map(\.key) == [1])
    }

    // MARK: Conditions

    @Test(
        arguments: InPlaceEngine.available,
        [
            "length(phone) >= 3", "length(phone) <= 2", "phone BETWEEN 10 AND 5", "CAST(price AS INTEGER) >= 0",
            "length(CAST(phone AS VARCHAR(3))) <= 5", "price >= CAST(0.7 AS INTEGER)", "code IN (CAST('abcdef' AS VARCHAR(3)))",
        ]) func aConditionThatNoRuleSaysIsLeftToTheDatabase(_ engine: InPlaceEngine, _ condition: String) throws
    {
        let shop = try InPlaceDatabase(
            engine,
            "CREATE TABLE a(id INTEGER PRIMARY KEY, phone INTEGER, price DOUBLE PRECISION, code VARCHAR(9), CHECK (\(engine.spelled(condition))));"
        )
        let open = try OpenDatabase(shop.url), attributes = try #require(open.schema.entity("a")).attributes
        // A server splits what nothing lies between, and one half of it is a rule.
        for attribute in attributes where !condition.contains("BETWEEN") || engine == .sqlite {
            #expect(attribute.rules.minimum == nil && attribute.rules.maximum == nil && attribute.rules.minLength == nil, "\(attribute)")
            #expect(attribute.allowedValues.isEmpty && attribute.rules.maxLength ?? 9 == 9, "\(attribute)")
        }
        #expect(open.remarks == ["a CHECK constraint of a is left out: it does not correspond to a rule of an attribute"])
    }
}

extension InPlaceEngine {
    /// A condition with the functions of the engine.
    fileprivate func spelled(_ condition: String) -> String {
        self == .postgresql ? condition.replacing("length(phone)", with: "length(phone::text)") : condition
    }
}

extension OpenDatabase {
    /// The history behind a token. A server tells a change when everything that began before it has ended.
    func history(since token: HistoryToken? = nil, changes: Int) throws -> [HistoryEntry] {
        for _ in 0..<600 {
            let reader = try store.beginRead()
            defer { reader.end() }
            let found = try reader.history(since: token, limit: 100)
            if found.reduce(0, { $0 + $1.changes.count }) >= changes { return found }
            Thread.sleep(forTimeInterval: 0.05)
        }
        return []
    }

    func token() throws -> HistoryToken? {
        let reader = try store.beginRead()
        defer { reader.end() }
        return try reader.currentToken()
    }
}
