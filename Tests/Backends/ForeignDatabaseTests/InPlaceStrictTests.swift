import Foundation
import Polystore
import PolystoreStorage
import Testing

/// Rules of the engine that the tables of another SQLite program have: strict types, and triggers that reject rows.
@Suite struct InPlaceStrictTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let tables: String, value: Value, place: String
        var testDescription: String { tables }
    }

    private static let cases = [
        // The engine computes a value that the column cannot hold.
        Case(
            tables: "CREATE TABLE a(id INTEGER PRIMARY KEY, n INTEGER, half INTEGER AS (n / 2.0) STORED) STRICT;", value: .int(3),
            place: "a.half"),
        // A trigger sets a value of a wrong type, in the table itself or in another one that is an entity, or is none.
        Case(
            tables: """
                CREATE TABLE a(id INTEGER PRIMARY KEY, n INTEGER, "the size" REAL) STRICT;
                CREATE TRIGGER note AFTER INSERT ON a BEGIN UPDATE a SET "the size" = 'x' || NEW.n WHERE id = NEW.id; END;
                """, value: .int(3), place: "a.the_size"),
        Case(
            tables: """
                CREATE TABLE a(id INTEGER PRIMARY KEY, n TEXT) STRICT; CREATE TABLE b(id INTEGER PRIMARY KEY, m INTEGER) STRICT;
                CREATE TRIGGER note AFTER INSERT ON a BEGIN INSERT INTO b(m) VALUES(NEW.n); END;
                """, value: .string("in column c"), place: "b.m"),
        Case(
            tables: """
                CREATE TABLE a(id INTEGER PRIMARY KEY, n TEXT) STRICT; CREATE TABLE "column b"(m BLOB) STRICT;
                CREATE TRIGGER note AFTER INSERT ON a BEGIN INSERT INTO "column b" VALUES(NEW.n); END;
                """, value: .string("secret"), place: "a"),
    ]

    @Test(arguments: cases) func aValueOfAWrongTypeNamesTheEntityAndTheProperty(_ item: Case) throws {
        let database = try InPlaceDatabase(.sqlite, item.tables), stack = try database.stack()
        let refused = failure {
            try stack.perform(synchronous: { transaction in
                for _ in 0..<3 { _ = try transaction.make("a", ["n": item.value]) }
            })
        }
        #expect(refused?.code == .validationFailed)
        let place = item.place.split(separator: ".").map(String.init), property = place.count > 1 ? place[1] : nil
        #expect(refused?.details.entity == place[0] && refused?.details.property == property, "\(refused?.message ?? "")")
        #expect(refused?.message.hasPrefix("\(item.place) has a value whose type differs from that of its column") == true)
        #expect(refused?.details.failures.first?.property == property)
        #expect(refused?.message.contains("secret") == false)
        #expect(try database.sql("SELECT count(*) FROM a") == ["0"])
    }

    @Test func aStatementWithAValueOfAWrongTypeNamesTheEntityAndTheProperty() throws {
        let database = try InPlaceDatabase(
            .sqlite, "CREATE TABLE a(id INTEGER PRIMARY KEY, n INTEGER NOT NULL) STRICT; INSERT INTO a VALUES(1, 10);")
        let stack = try database.stack()
        let refused = failure { try stack.perform(synchronous: { _ = try $0.execute("UPDATE main.a SET n = 'secret'") }) }
        #expect(refused?.code == .valueNotStorable && refused?.details.entity == "a" && refused?.details.property == "n")
        let missing = failure { try stack.perform(synchronous: { _ = try $0.execute("UPDATE main.a SET n = NULL") }) }
        #expect(missing?.code == .valueNotStorable && missing?.details.entity == "a" && missing?.details.property == "n")
        #expect(try database.sql("SELECT n FROM a") == ["10"])
    }

    @Test(arguments: ["ABORT, 'no'", "FAIL, 'no'", "ROLLBACK, 'no'", "IGNORE"]) func rowsThatATriggerRejectsLeaveNothing(_ answer: String)
        throws
    {
        let database = try InPlaceDatabase(
            .sqlite,
            """
            CREATE TABLE a(id INTEGER PRIMARY KEY, n INTEGER) STRICT; CREATE TABLE seen(id INTEGER PRIMARY KEY, n INTEGER UNIQUE);
            CREATE TRIGGER veto BEFORE INSERT ON a WHEN NEW.n = 55 BEGIN SELECT RAISE(\(answer)); END;
            CREATE TRIGGER note AFTER INSERT ON a BEGIN INSERT OR IGNORE INTO seen(n) VALUES(NEW.n % 7); END;
            """)
        let stack = try database.stack()
        let refused = failure {
            try stack.perform(synchronous: { transaction in
                for number in 1...60 { _ = try transaction.make("a", ["n": .int(Int64(number))]) }
            })
        }
        #expect(refused?.code == .validationFailed && refused?.details.entity == "a", "\(refused?.description ?? "")")
        #expect(try database.sql("SELECT (SELECT count(*) FROM a), (SELECT count(*) FROM seen)") == ["0|0"])
        try stack.perform(synchronous: { transaction in
            for number in 1...50 { _ = try transaction.make("a", ["n": .int(Int64(number))]) }
        })
        #expect(try database.sql("SELECT (SELECT count(*) FROM a), (SELECT count(*) FROM seen)") == ["50|7"])
    }
}
