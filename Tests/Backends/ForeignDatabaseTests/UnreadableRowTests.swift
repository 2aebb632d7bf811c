import Foundation
import PolystoreInMemory
import PolystoreStorage
import PolystoreTransfer
import Synchronization
import TestStores
import Testing

/// Transfers from a PostgreSQL schema of another program that has rows with values that no store can have.
@Suite(.enabled(if: TestStore.server != nil, "needs a PostgreSQL server; .ci/run starts one")) struct UnreadableRowTests {
    /// Things that cannot be read, by key, with the property of the value. Interval 2600 is read as a text.
    private static let unreadable: [(key: Int64, column: String, value: String)] = [
        (1, "amount", "'NaN'"), (500, "amount", "'NaN'"), (501, "at", "'infinity'"), (1500, "at", "'-infinity'"),
        (1501, "day", "'infinity'"), (1502, "day", "'12000-01-01'"), (1503, "day", "'0044-03-15 BC'"),
        (2000, "amount", "1234567890123456789012345678901234567890.5"), (2500, "ratio", "'NaN'"), (3000, "seen", "'infinity'"),
    ]

    private static let script = """
        CREATE TABLE maker(id int PRIMARY KEY, name text NOT NULL, founded date);
        CREATE TABLE thing(id int PRIMARY KEY, amount numeric, at timestamp, day date, seen timestamptz, span interval, ratio float8,
            maker_id int NOT NULL REFERENCES maker(id), next_id int REFERENCES thing(id));
        CREATE TABLE zebra(id int PRIMARY KEY, name text);
        INSERT INTO maker SELECT i, 'm' || i, '2020-01-01' FROM generate_series(1, 5) AS i;
        UPDATE maker SET founded = 'infinity' WHERE id = 4;
        INSERT INTO thing SELECT i, i + 0.5, '2020-01-01', '2020-01-02', '2020-01-03', '1 day', i, 1 + i % 3, CASE WHEN i = 499 THEN 500 END
            FROM generate_series(1, 3000) AS i;
        UPDATE thing SET maker_id = 4 WHERE id = 700;
        UPDATE thing SET span = '1 year -3 days 04:05:06.789' WHERE id = 2600;
        INSERT INTO zebra VALUES(1, 'z');
        \(unreadable.map { "UPDATE thing SET \($0.column) = \($0.value) WHERE id = \($0.key);" }.joined(separator: "\n"))
        """

    private struct Place {
        let schema: String
        let database: OpenDatabase

        init(catalog: String = "foreign") throws {
            let made = try ForeignDatabases.postgreSQL(UnreadableRowTests.script)
            schema = made.schema
            database = try OpenDatabase(made.url.replacing("x-catalog=foreign", with: "x-catalog=\(catalog)"))
        }

        func drop() {
            database.close()
            ForeignDatabases.drop(schema)
        }
    }

    private func options(_ change: (inout TransferOptions) -> Void = { _ in }) -> TransferOptions {
        var options = TransferOptions()
        options.onError = .skip(most: 100)
        change(&options)
        return options
    }

    private func count(_ store: OpenDatabase, _ entity: String, _ condition: String) throws -> Int {
        try store.keys(entity, condition).count
    }

    @Test(arguments: TestStore.all, ["foreign", "inplace"])
    func rowsThatCannotBeReadAreLeftOutAndAllOthersArrive(_ kind: TestStore, _ catalog: String) throws {
        let place = try Place(catalog: catalog)
        defer { place.drop() }
        let source = place.database, target = try OpenDatabase(kind.make(), source.schema), records = Mutex<[String]>([])
        defer { try? target.store.erase() }
        let report = try TransferEngine().transfer(
            from: source.store, to: target.store,
            options {
                $0.receiveRejects = { rejects throws(StorageError) in
                    try rejects.forEachRecord { _, record in records.withLock { $0.append(record) } }
                }
            })
        let things = report.rejected.filter { $0.entity == "thing" }
        #expect(things.map(\.key) == (Self.unreadable.map(\.key) + [700]).sorted())
        for (key, column, _) in Self.unreadable {
            let row = things.first { $0.key == key }
            #expect(row?.property == column && row?.reason.contains("thing.\(column)") == true, "\(key): \(String(describing: row))")
        }
        #expect(report.rejected.filter { $0.entity == "maker" }.map(\.key) == [4])
        #expect(report.removedReferences == ["thing.next": 1])
        #expect(report.isVerified)
        #expect(report.items.map(\.digest.count) == [4, 2989, 1])
        #expect(try count(target, "thing", "span == '1 year -3 days +04:05:06.789'") == 1)
        let written = records.withLock { $0 }
        let record = try #require(written.first { $0.contains("\"polystore_key\":501,") })
        #expect(record.contains(#""amount":"501.5","at":{"polystore_unreadable":true},"day":"2020-01-02T00:00:00Z""#), "\(record)")
        #expect(written.count == 12)
        // The session is as usable as before.
        #expect(try source.keys("zebra", "name == 'z'") == [1])
    }

    @Test func anErrorThatEndsATransferNamesTheRow() throws {
        let place = try Place()
        defer { place.drop() }
        let source = place.database, target = try OpenDatabase(InMemoryStore(), source.schema)
        let error = failure { _ = try TransferEngine().transfer(from: source.store, to: target.store) }
        #expect(error?.code == .valueNotStorable && error?.message.hasSuffix("(maker 4)") == true, "\(error?.message ?? "")")
        // A plan names the first row of each table, and counts the tables after it.
        let reader = try source.store.beginRead()
        defer { reader.end() }
        let plan = try TransferPlan(reader, to: nil, TransferOptions(), nil) { _ in }
        #expect(plan.items.map(\.name) == ["maker", "thing", "zebra"])
        #expect(plan.items.map { $0.problem?.details.keys ?? [] } == [[4], [1], []])
        #expect(plan.items[2].count == 1)
        let skipping = try TransferPlan(reader, to: nil, options(), nil) { _ in }
        #expect(skipping.rejected == ["maker": 1, "thing": 11] && skipping.items.allSatisfy { $0.problem == nil })
    }

    @Test(arguments: [true, false]) func conditionsThatCannotBeEvaluatedLeaveRowsOut(_ isSQLite: Bool) throws {
        let script = """
            CREATE TABLE maker(id int PRIMARY KEY, name text NOT NULL);
            CREATE TABLE thing(id \(isSQLite ? "INTEGER" : "int") PRIMARY KEY, amount \(isSQLite ? "INTEGER" : "numeric"), note text,
              maker_id int REFERENCES maker(id));
            INSERT INTO maker VALUES(1, 'a'), (2, 'b');
            """
        let bad = isSQLite ? "'much'" : "'NaN'"
        let rows = (1...600).map { "(\($0), \($0 == 7 || $0 == 300 ? bad : "\($0)"), 'n', \($0 <= 300 ? 1 : 2))" }.joined(separator: ", ")
        let text = "\(script) INSERT INTO thing VALUES \(rows);"
        let made: (url: String, schema: String?)
        if isSQLite {
            made = ("sqlite:\(try ForeignDatabases.sqlite(text))?catalog=foreign", nil)
        } else {
            let place = try ForeignDatabases.postgreSQL(text)
            made = (place.url, place.schema)
        }
        defer { if let schema = made.schema { ForeignDatabases.drop(schema) } }
        let source = try OpenDatabase(made.url)
        defer { source.close() }

        func copy(_ change: (inout TransferOptions) -> Void) throws -> (OpenDatabase, TransferReport) {
            let options = options(change), target = try OpenDatabase(InMemoryStore(), try options.mapping.schema(for: source.schema))
            return (target, try TransferEngine().transfer(from: source.store, to: target.store, options))
        }
        let large = try QueryPredicate(parsing: "amount > 500")
        let (first, report) = try copy { $0.selection.conditions = ["thing": large] }
        #expect(report.rejected.map(\.key) == [7, 300])
        #expect(report.rejected.allSatisfy { $0.reason.contains("the condition for thing cannot be evaluated") }, "\(report.rejected)")
        #expect(try first.keys("thing", "TRUEPREDICATE").count == 100)
        // Rows that are not chosen are not examined, and references of unreadable ones are followed.
        let few = try QueryPredicate(parsing: "maker.name == 'b'")
        let (second, none) = try copy { $0.selection.conditions = ["thing": few] }
        #expect(none.rejected.isEmpty)
        #expect(try second.keys("thing", "TRUEPREDICATE").count == 300)
        let named = try QueryPredicate(parsing: "note == 'n' AND maker.name == 'a'")
        let (third, chosen) = try copy {
            $0.selection.conditions = ["thing": named, "maker": try! QueryPredicate(parsing: "name == 'x'")]
            $0.selection.followsReferences = true
            $0.mapping = TransferMapping(renames: ["thing": "Item", "thing.note": "text"], types: [:])
        }
        #expect(chosen.rejected.map { "\($0.entity) \($0.key)" } == ["Item 7", "Item 300"])
        #expect(try third.keys("Item", "text == 'n'").count == 298)
        #expect(try third.keys("maker", "TRUEPREDICATE") == [1])
        let stopping = failure {
            var options = TransferOptions()
            options.selection.conditions = ["thing": large]
            _ = try TransferEngine().transfer(from: source.store, to: OpenDatabase(InMemoryStore(), source.schema).store, options)
        }
        #expect(stopping?.code == .valueNotStorable, "\(stopping?.message ?? "")")
        // Only the part of one entity, whose references become nil.
        let (fourth, only) = try copy {
            $0.selection.only = ["thing"]
            $0.acceptedLosses = ["thing.maker"]
        }
        #expect(only.rejected.map(\.key) == [7, 300] && only.removedReferences == ["thing.maker": 598])
        #expect(try fourth.keys("thing", "maker == NIL").count == 598)
        // An existing target: its objects are replaced, as far as the source has better ones.
        let (target, _) = try copy { $0.selection.conditions = ["thing": few] }
        for existing in [TransferOptions.ExistingObjects.merge, .replace] {
            let again = try TransferEngine().transfer(from: source.store, to: target.store, options { $0.existing = existing })
            #expect(again.rejected.map(\.key) == [7, 300])
            #expect(try target.keys("thing", "TRUEPREDICATE").count == 598)
        }
    }
}
