import Foundation
import Polystore
import PolystoreStorage
import TestStores
import Testing

/// Triggers of the owner that change the rows of the statement that fires them: what the history says, and what is refused.
@Suite struct InPlaceTriggerTests {
    /// A table `a` with the rows 1 and 2, and a trigger that runs a statement after each row.
    ///
    /// - Parameter condition: Of the rows for which it runs; `NEW` or `OLD` is `ROW`.
    private static func script(_ engine: InPlaceEngine, _ event: String, _ condition: String, _ statement: String) -> String {
        let row = event == "DELETE" ? "OLD" : "NEW", table = "CREATE TABLE a(id INTEGER PRIMARY KEY, n INTEGER, m INTEGER);"
        let when = condition.replacing("ROW", with: row), body = statement.replacing("ROW", with: row)
        let rows = "INSERT INTO a VALUES(1, 10, 0), (2, 20, 0);"
        switch engine {
        case .sqlite: return "\(table) \(rows) CREATE TRIGGER answer AFTER \(event) ON a WHEN \(when) BEGIN \(body); END;"
        case .postgresql:
            return """
                \(table) \(rows) CREATE FUNCTION answer() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \(body); RETURN NULL; END $$;
                CREATE TRIGGER answer AFTER \(event) ON a FOR EACH ROW WHEN (\(when)) EXECUTE FUNCTION answer();
                """
        }
    }

    /// The net changes behind a token, as a reader of the history sees them: entries one after the other.
    private func net(_ entries: [HistoryEntry]) -> [Int64: String] {
        var net: [Int64: String] = [:]
        for change in entries.flatMap({ Array($0.changes) }) {
            switch (net[change.key], change.kind) {
            case (_, .links): continue
            case ("insert", .update): continue
            case ("insert", .delete): net[change.key] = "nothing"
            case ("delete", .insert): net[change.key] = "update"
            case (_, .insert): net[change.key] = "insert"
            case (_, .update): net[change.key] = "update"
            case (_, .delete): net[change.key] = "delete"
            }
        }
        return net.filter { $0.value != "nothing" }
    }

    /// Waits until a change that was made now is told, and returns what was told before it.
    private func history(_ open: OpenDatabase, _ shop: InPlaceDatabase, since token: HistoryToken?) throws -> [HistoryEntry] {
        try shop.sql("INSERT INTO a VALUES(99, 0, 0)")
        for _ in 0..<600 {
            let found = try open.history(since: token, changes: 1)
            if found.contains(where: { entry in entry.changes.contains { $0.key == 99 } }) {
                return found.filter { entry in !entry.changes.contains { $0.key == 99 } }
            }
            Thread.sleep(forTimeInterval: 0.02)
        }
        return []
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let event: String, condition: String, answer: String, statement: String
        /// What the transaction does to rows, by hand.
        let expected: [Int64: String]
        var testDescription: String { "\(statement) -> \(answer)" }
    }

    private static let cases = [
        Case(
            event: "INSERT", condition: "ROW.n = 3", answer: "UPDATE a SET m = 1 WHERE id = ROW.id",
            statement: "INSERT INTO a VALUES(3, 3, 0)", expected: [3: "insert"]),
        Case(
            event: "UPDATE", condition: "ROW.n = 3", answer: "DELETE FROM a WHERE id = ROW.id",
            statement: "UPDATE a SET n = 3 WHERE id = 2", expected: [2: "delete"]),
        Case(
            event: "DELETE", condition: "ROW.m = 0", answer: "INSERT INTO a VALUES(ROW.id, ROW.n, 1)",
            statement: "DELETE FROM a WHERE id = 1", expected: [1: "update"]),
        Case(
            event: "INSERT", condition: "ROW.n = 3", answer: "DELETE FROM a WHERE id = ROW.id", statement: "INSERT INTO a VALUES(3, 3, 0)",
            expected: [:]),
        // A row that the same statement has not inserted first.
        Case(
            event: "INSERT", condition: "ROW.n = 3", answer: "DELETE FROM a WHERE id = ROW.id + 1",
            statement: "INSERT INTO a VALUES(3, 3, 0), (4, 4, 0)", expected: [3: "insert"]),
        Case(
            event: "DELETE", condition: "ROW.id = 1", answer: "UPDATE a SET m = m + 1 WHERE id = 2",
            statement: "DELETE FROM a WHERE id = 1", expected: [1: "delete", 2: "update"]),
    ]

    @Test(arguments: InPlaceEngine.available, cases) func theHistorySaysWhatBecameOfARow(_ engine: InPlaceEngine, _ item: Case) throws {
        // SQLite runs the trigger for each row as soon as it is inserted.
        if engine == .sqlite, item.statement.contains("), (") { return }
        let shop = try InPlaceDatabase(engine, Self.script(engine, item.event, item.condition, item.answer))
        let open = try OpenDatabase(shop.url)
        try shop.sql("UPDATE a SET m = 0 WHERE id = 2")
        let token = try #require(try open.history(changes: 1).last?.token)
        try shop.sql("BEGIN; \(item.statement); COMMIT;")
        let entries = try history(open, shop, since: token)
        #expect(net(entries) == item.expected)
        if engine == .postgresql { #expect(entries.count <= 1) }
    }

    @Test(arguments: InPlaceEngine.available) func theHistoryOfOurCommitsSaysWhatBecameOfARow(_ engine: InPlaceEngine) throws {
        let shop = try InPlaceDatabase(engine, Self.script(engine, "INSERT", "ROW.n = 3", "UPDATE a SET m = 1 WHERE id = ROW.id"))
        let stack = try shop.stack()
        let open = try OpenDatabase(shop.url)
        let key = try stack.perform(synchronous: { try $0.make("a", ["n": .int(3), "m": .int(0)]).objectID.key.key })
        #expect(try open.history(changes: 1).map { Array($0.changes) } == [[HistoryChange(entity: 0, key: key, kind: .insert)]])
        #expect(try shop.sql("SELECT m FROM a WHERE n = 3") == ["1"])

        let gone = try InPlaceDatabase(engine, Self.script(engine, "UPDATE", "ROW.n = 3", "DELETE FROM a WHERE id = ROW.id"))
        let second = try gone.stack(), watch = try OpenDatabase(gone.url)
        try second.perform(synchronous: { try $0.object("a", 2).setValue(.int(3), for: "n") })
        #expect(try watch.history(changes: 1).map { Array($0.changes) } == [[HistoryChange(entity: 0, key: 2, kind: .delete)]])
    }

    /// SQLite runs the newest trigger first, so that ours have to be made again, which is no gap.
    @Test func aTriggerThatComesLaterRunsAfterOursWhenTheStoreIsOpenedAgain() throws {
        let shop = try InPlaceDatabase(.sqlite, "CREATE TABLE a(id INTEGER PRIMARY KEY, n INTEGER); INSERT INTO a VALUES(1, 10);")
        let first = try OpenDatabase(shop.url)
        try shop.sql("UPDATE a SET n = 11")
        let token = try #require(try first.history(changes: 1).last?.token)
        try shop.sql("CREATE TRIGGER late AFTER INSERT ON a BEGIN DELETE FROM a WHERE id = NEW.id; END;")
        let second = try OpenDatabase(shop.url)
        try shop.sql("INSERT INTO a VALUES(3, 3)")
        for open in [first, second] {
            let changes = try open.history(since: token, changes: 2).flatMap { Array($0.changes) }
            #expect(changes.map(\.kind) == [.insert, .delete])
        }
    }

    // MARK: Changes that are undone

    private func refused(_ shop: InPlaceDatabase, _ trigger: String, _ body: (WriteTransaction) throws -> Void) throws {
        let stack = try shop.stack(), before = try shop.sql("SELECT * FROM a ORDER BY id")
        let refused = failure { try stack.perform(synchronous: { try body($0) }) }
        #expect(refused?.code == .validationFailed)
        #expect(refused?.message.contains(trigger) == true, "\(refused?.message ?? "")")
        #expect(try shop.sql("SELECT * FROM a ORDER BY id") == before)
    }

    @Test(arguments: InPlaceEngine.available) func aChangeThatATriggerUndoesIsRefused(_ engine: InPlaceEngine) throws {
        let kept = try InPlaceDatabase(
            engine, Self.script(engine, "DELETE", "ROW.m = 0", "INSERT INTO a VALUES(ROW.id, ROW.n, 1)"))
        try refused(kept, "answer") { try $0.delete($0.object("a", 1)) }
        let gone = try InPlaceDatabase(engine, Self.script(engine, "INSERT", "ROW.n = 3", "DELETE FROM a WHERE id = ROW.id"))
        try refused(gone, "answer") { _ = try $0.make("a", ["n": .int(3), "m": .int(0)]) }
        let old = try InPlaceDatabase(
            engine, Self.script(engine, "UPDATE", "ROW.n = 3", "UPDATE a SET n = 10 * id WHERE id = ROW.id"))
        try refused(old, "answer") { try $0.object("a", 1).setValue(.int(3), for: "n") }
        // Another value is none that the trigger has undone.
        let stack = try old.stack()
        try stack.perform(synchronous: { try $0.object("a", 1).setValue(.int(4), for: "n") })
        #expect(try old.sql("SELECT n FROM a WHERE id = 1") == ["4"])
    }

    @Test(arguments: InPlaceEngine.available) func aPairThatATriggerPutsBackIsRefused(_ engine: InPlaceEngine) throws {
        let tables = """
            CREATE TABLE a(id INTEGER PRIMARY KEY); CREATE TABLE b(id INTEGER PRIMARY KEY);
            CREATE TABLE pair(a_id INTEGER REFERENCES a(id), b_id INTEGER REFERENCES b(id), PRIMARY KEY(a_id, b_id));
            INSERT INTO a VALUES(1); INSERT INTO b VALUES(1); INSERT INTO pair VALUES(1, 1);
            """
        let body = "INSERT INTO pair VALUES(OLD.a_id, OLD.b_id);"
        let shop =
            switch engine {
            case .sqlite: try InPlaceDatabase(engine, tables + "CREATE TRIGGER answer AFTER DELETE ON pair BEGIN \(body) END;")
            case .postgresql:
                try InPlaceDatabase(
                    engine,
                    tables + "CREATE FUNCTION answer() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \(body) RETURN NULL; END $$;"
                        + "CREATE TRIGGER answer AFTER DELETE ON pair FOR EACH ROW EXECUTE FUNCTION answer();")
            }
        try refused(shop, "answer") { try $0.object("a", 1).setObjects([], for: "b") }
    }

    @Test(.enabled(if: TestStore.server != nil, "needs a PostgreSQL server; .ci/run starts one"))
    func aValueThatATriggerKeepsIsRefused() throws {
        let shop = try InPlaceDatabase(
            .postgresql,
            """
            CREATE TABLE a(id int PRIMARY KEY, n int NOT NULL, m text); INSERT INTO a VALUES(1, 10, 'x');
            CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.n := OLD.n; RETURN NEW; END $$;
            CREATE TRIGGER keep BEFORE UPDATE ON a FOR EACH ROW EXECUTE FUNCTION keep();
            """)
        try refused(shop, "keep") { try $0.object("a", 1).setValue(.int(3), for: "n") }
        // What was assigned and is there is done.
        let stack = try shop.stack()
        try stack.perform(synchronous: { transaction in
            let object = try transaction.object("a", 1)
            try object.setValue(.string("y"), for: "m")
            try object.setValue(.int(10), for: "n")
        })
        #expect(try shop.sql("SELECT n, m FROM a") == ["10|y"])
    }

    /// A trigger that the owner makes while the store is open counts as well.
    @Test(arguments: InPlaceEngine.available) func aTriggerThatComesLaterIsSeen(_ engine: InPlaceEngine) throws {
        let shop = try InPlaceDatabase(
            engine, "CREATE TABLE a(id INTEGER PRIMARY KEY, n INTEGER, m INTEGER); INSERT INTO a VALUES(1, 10, 0);")
        let stack = try shop.stack()
        try stack.perform(synchronous: { try $0.object("a", 1).setValue(.int(11), for: "n") })
        let body = "UPDATE a SET n = 11 WHERE id = NEW.id;"
        switch engine {
        case .sqlite: try shop.sql("CREATE TRIGGER late AFTER UPDATE OF n ON a WHEN NEW.n = 12 BEGIN \(body) END;")
        case .postgresql:
            try shop.sql(
                """
                CREATE FUNCTION late() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \(body) RETURN NULL; END $$;
                CREATE TRIGGER late AFTER UPDATE ON a FOR EACH ROW WHEN (NEW.n = 12) EXECUTE FUNCTION late();
                """)
        }
        let refused = failure { try stack.perform(synchronous: { try $0.object("a", 1).setValue(.int(12), for: "n") }) }
        #expect(refused?.code == .validationFailed && refused?.message.contains("late") == true)
    }

    // MARK: Names

    @Test(arguments: InPlaceEngine.available) func aTableThatIsRenamedEndsTheHistory(_ engine: InPlaceEngine) throws {
        let shop = try InPlaceDatabase(engine, "CREATE TABLE a(id INTEGER PRIMARY KEY, n INTEGER); INSERT INTO a VALUES(1, 10);")
        let before = try OpenDatabase(shop.url)
        try shop.sql("UPDATE a SET n = 11")
        let token = try #require(try before.history(changes: 1).last?.token)
        before.close()
        try shop.sql("ALTER TABLE a RENAME TO b; UPDATE b SET n = 12; INSERT INTO b VALUES(2, 20);")
        let after = try OpenDatabase(shop.url)
        #expect(failure { _ = try after.history(since: token, changes: 0) }?.code == .tokenExpired)
        let next = try after.token()
        try shop.sql("UPDATE b SET n = 13 WHERE id = 2")
        #expect(try after.history(since: next, changes: 1).flatMap { Array($0.changes) }.map(\.key) == [2])
    }
}
