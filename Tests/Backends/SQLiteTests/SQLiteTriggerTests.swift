import Foundation
import PolystoreStorage
import Testing

/// Triggers that another program has added to the tables of a store: they keep their meaning, and nothing half inserted stays.
@Suite struct SQLiteTriggerTests {
    /// Adds items with the numbers as keys, as changes or as a load, and commits.
    private func add(_ numbers: Range<Int64>, _ file: SQLiteFile, loads: Bool = false) throws {
        let writer = try file.store.beginWrite(WriteOptions())
        defer { writer.end() }
        if loads {
            let batch = RowBatch(capacity: numbers.count)
            for number in numbers {
                let cells = batch.appendRow(key: number, version: 1, entity: 0, slots: 2)
                cells.initialize(to: .int(number))
                (cells + 1).initialize(to: .null)
            }
            try writer.load(0, batch)
        } else {
            try writer.apply(SQLiteFile.inserting(numbers.map { [.int($0), .null] }, from: numbers.lowerBound))
        }
        _ = try writer.commit(CommitRecord())
    }

    private func error(_ body: () throws -> Void) -> StorageError? {
        do { try body() } catch { return error as? StorageError }
        return nil
    }

    /// Numbers for one statement of one row, one of fifty, and both.
    private static let counts: [Int64] = [1, 50, 60]

    @Test(arguments: ["ABORT, 'no'", "FAIL, 'no'", "ROLLBACK, 'no'", "IGNORE"], counts)
    func aRowThatATriggerRejectsIsAnErrorAndLeavesNothing(_ answer: String, _ count: Int64) throws {
        for time in ["BEFORE", "AFTER"] {
            let file = try SQLiteFile()
            try add(1000..<1010, file)
            let trigger = "CREATE TRIGGER veto \(time) INSERT ON Item WHEN NEW.number = \(count) BEGIN SELECT RAISE(\(answer)); END"
            #expect(try file.sql(trigger) == "")
            // An AFTER trigger that ignores leaves the row.
            let isRefused = !(answer == "IGNORE" && time == "AFTER")
            for loads in [false, true] {
                let refused = error { try add(1..<(count + 1), file, loads: loads) }
                #expect((refused?.code == .validationFailed) == isRefused, "\(time) \(loads) \(refused?.description ?? "done")")
                #expect((refused?.details.entity == "Item") == isRefused)
                if !isRefused { break }
                #expect(try file.count() == 10)
            }
            // Other rows are inserted.
            try add(100..<160, file)
            #expect(try file.count() == (isRefused ? 70 : 70 + Int(count)))
        }
    }

    @Test(arguments: ["ABORT, 'no'", "FAIL, 'no'", "IGNORE"]) func whatCameBeforeARejectedPartIsKept(_ answer: String) throws {
        let file = try SQLiteFile()
        _ = try file.sql("CREATE TRIGGER veto BEFORE INSERT ON Item WHEN NEW.number = 30 BEGIN SELECT RAISE(\(answer)); END")
        let writer = try file.store.beginWrite(WriteOptions())
        defer { writer.end() }
        try writer.apply(SQLiteFile.inserting([[.int(100), .null]], from: 100))
        let savepoint = try writer.savepoint()
        #expect(
            code { try writer.apply(SQLiteFile.inserting((1...60).map { [.int($0), .null] }, from: 1)) } == .validationFailed)
        try writer.rollback(to: savepoint)
        _ = try writer.commit(CommitRecord())
        #expect(try file.sql("SELECT group_concat(number) FROM Item") == "100")
    }

    @Test func theEngineRollsTheTransactionBackForATrigger() throws {
        let file = try SQLiteFile()
        _ = try file.sql("CREATE TRIGGER veto BEFORE INSERT ON Item WHEN NEW.number = 30 BEGIN SELECT RAISE(ROLLBACK, 'no'); END")
        let writer = try file.store.beginWrite(WriteOptions())
        defer { writer.end() }
        try writer.apply(SQLiteFile.inserting([[.int(100), .null]], from: 100))
        let savepoint = try writer.savepoint()
        let rows = (1...60).map { [Cell.int($0), .null] }
        #expect(code { try writer.apply(SQLiteFile.inserting(rows, from: 1)) } == .validationFailed)
        // Nothing that followed would belong to the transaction.
        #expect(code { try writer.rollback(to: savepoint) } == .validationFailed)
        #expect(code { _ = try writer.commit(CommitRecord()) } == .validationFailed)
        #expect(try file.count() == 0)
    }

    @Test(arguments: counts) func conflictClausesOfATriggerKeepTheirMeaning(_ count: Int64) throws {
        let file = try SQLiteFile()
        _ = try file.sql(
            """
            CREATE TABLE first(n INTEGER PRIMARY KEY, number INTEGER); CREATE TABLE last(n INTEGER PRIMARY KEY, number INTEGER);
            CREATE TRIGGER note AFTER INSERT ON Item BEGIN
                INSERT OR IGNORE INTO first VALUES(NEW.number % 7, NEW.number); INSERT OR REPLACE INTO last VALUES(NEW.number % 7, NEW.number);
            END
            """)
        for (loads, start) in [(false, 0), (true, 700)] as [(Bool, Int64)] { try add(start..<(start + count), file, loads: loads) }
        #expect(try file.count() == Int(2 * count))
        let least = min(count, 7), firsts = (0..<least).map(String.init).joined(separator: ",")
        let lasts = (0..<least).map { remainder in String((700..<(700 + count)).last { $0 % 7 == remainder } ?? -1) }.joined(separator: ",")
        #expect(try file.sql("SELECT group_concat(number) FROM (SELECT number FROM first ORDER BY n)") == firsts)
        #expect(try file.sql("SELECT group_concat(number) FROM (SELECT number FROM last ORDER BY n)") == lasts)
    }

    /// The table of another program is not taken for that of the entity.
    @Test(arguments: [
        "seen(n INTEGER PRIMARY KEY)", "seen(n UNIQUE)", "seen(n CHECK (n < 1))", "seen(n, m NOT NULL)",
        "seen(n TEXT, b BLOB DEFAULT 'x') STRICT",
    ]) func aRuleOfATableThatATriggerWritesToIsNamedAsSuch(_ table: String) throws {
        for count in Self.counts {
            let file = try SQLiteFile()
            _ = try file.sql(
                "CREATE TABLE \(table); CREATE TRIGGER note AFTER INSERT ON Item BEGIN INSERT INTO seen(n) VALUES(1); "
                    + "INSERT INTO seen(n) VALUES(1); END")
            let refused = error { try add(1..<(count + 1), file) }
            #expect(refused?.code == .validationFailed && refused?.details.entity == "Item", "\(refused?.description ?? "done")")
            #expect(refused?.details.constraint == nil)
            #expect(try file.count() == 0 && file.sql("SELECT count(*) FROM seen") == "0")
        }
    }

    @Test func theConstraintsOfTheModelHaveTheirErrorsWithATrigger() throws {
        let file = try SQLiteFile()
        _ = try file.sql("CREATE TABLE seen(n); CREATE TRIGGER note AFTER INSERT ON Item BEGIN INSERT INTO seen VALUES(NEW.number); END")
        try add(30..<31, file)
        #expect(error { try add(1..<61, file) }?.code == .alreadyExists)
        let writer = try file.store.beginWrite(WriteOptions())
        let rows = (1...60).map { [Cell.int($0), .null] }
        let refused = error { try writer.apply(SQLiteFile.inserting(rows, from: 100)) }
        writer.end()
        #expect(refused?.code == .uniqueConstraintViolated && refused?.details.constraint == "Item(number)")
        #expect(try file.count() == 1 && file.sql("SELECT count(*) FROM seen") == "1")
    }

    private static let linked = Result {
        try Schema(entities: [
            Entity("Owner", relationships: [Relationship("tags", to: "Tag", .toMany, inverse: "owners")]),
            Entity("Tag", relationships: [Relationship("owners", to: "Owner", .toMany, inverse: "tags")]),
        ])
    }

    @Test func aPairThatATriggerIgnoresIsAnError() throws {
        let schema = try Self.linked.get(), file = try SQLiteFile(schema: schema)
        let owner = try #require(schema.index(of: "Owner")), tag = try #require(schema.index(of: "Tag"))
        func apply(_ entities: [EntityChanges] = [], removed: [LinkPair] = [], added: [LinkPair] = [], loads: Bool = false) throws {
            let writer = try file.store.beginWrite(WriteOptions())
            defer { writer.end() }
            if loads {
                try writer.load(link: 0, added)
            } else {
                try writer.apply(ChangeSet(entities: entities, links: [LinkChanges(link: 0, removed: removed, added: added)]))
            }
            _ = try writer.commit(CommitRecord())
        }
        try apply(
            [owner, tag].map { entity in
                let rows = RowSource(count: 2) { part, batch in
                    for index in part { _ = batch.appendRow(key: Int64(index + 1), version: 1, entity: entity, slots: 0) }
                }
                return EntityChanges(entity: entity, inserts: rows)
            }, added: [LinkPair(owner: 1, member: 1)])
        let table = "\"\(try file.sql("SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE '%\"rank\"%'"))\""
        let trouble = try file.sql(
            """
            CREATE TRIGGER keep BEFORE DELETE ON \(table) WHEN OLD.owner = 1 BEGIN SELECT RAISE(IGNORE); END;
            CREATE TRIGGER hold BEFORE INSERT ON \(table) WHEN NEW.member = 2 BEGIN SELECT RAISE(IGNORE); END;
            """)
        #expect(trouble == "")
        let kept = LinkPair(owner: 1, member: 1), held = LinkPair(owner: 2, member: 2)
        let deletion = EntityChanges(entity: tag, deletes: [RowDeletion(key: 1, expectedVersion: 1)])
        for refused in [
            error { try apply(removed: [kept]) }, error { try apply([deletion], removed: [kept]) }, error { try apply(added: [held]) },
            error { try apply(added: [held], loads: true) },
        ] { #expect(refused?.code == .validationFailed && refused?.details.entity == "Owner", "\(refused?.description ?? "done")") }
        // Other pairs are changed, and one that is not there is none to remove.
        try apply(removed: [LinkPair(owner: 2, member: 1)], added: [LinkPair(owner: 2, member: 1)])
        try apply(removed: [LinkPair(owner: 2, member: 1), LinkPair(owner: 1, member: 2)])
        #expect(try file.sql("SELECT owner, member FROM \(table)") == "1|1")
        #expect(try file.sql("SELECT count(*) FROM Tag") == "2")
    }

    /// A row that is there, in the version that was read, was not changed by another transaction.
    @Test func aChangeThatATriggerIgnoresIsNoConflict() throws {
        let file = try SQLiteFile()
        try add(1..<3, file)
        _ = try file.sql(
            """
            CREATE TRIGGER keep BEFORE UPDATE ON Item WHEN NEW.number = 9 BEGIN SELECT RAISE(IGNORE); END;
            CREATE TRIGGER hold BEFORE DELETE ON Item WHEN OLD.number = 1 BEGIN SELECT RAISE(IGNORE); END;
            """)
        let update = RowSource(count: 1) { _, batch in
            let cells = batch.appendRow(key: 1, version: 1, entity: 0, slots: 2)
            cells.initialize(to: .int(9))
            (cells + 1).initialize(to: .null)
        }
        for version in [nil, 1] as [Int64?] {
            var mask = SlotMask()
            mask.insert(0)
            let changes = RowUpdate(mask: mask, checksVersion: version != nil, rows: update)
            for part in [
                EntityChanges(entity: 0, updates: [changes]),
                EntityChanges(entity: 0, deletes: [RowDeletion(key: 1, expectedVersion: version)]),
            ] {
                let writer = try file.store.beginWrite(WriteOptions())
                #expect(code { try writer.apply(ChangeSet(entities: [part])) } == .validationFailed)
                writer.end()
            }
        }
        // A version that is not that of the row is a conflict, and a row that is not there is none to change.
        for (key, expected) in [(1, StorageError.Code.staleObject), (7, .notFound)] as [(Int64, StorageError.Code)] {
            let writer = try file.store.beginWrite(WriteOptions())
            let part = EntityChanges(entity: 0, deletes: [RowDeletion(key: key, expectedVersion: 5)])
            #expect(code { try writer.apply(ChangeSet(entities: [part])) } == expected)
            writer.end()
        }
    }
}
