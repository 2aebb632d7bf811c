import Foundation
import PolystoreStorage
import Testing

@testable import PolystorePostgreSQL

/// Triggers of another program that ignore rows and pairs (`RETURN NULL`), or put them in another table.
@Suite(.enabled(if: TestServer.url != nil, "needs a PostgreSQL server; .ci/run starts one")) struct PostgreSQLTriggerTests {
    private static let linked = Result {
        try Schema(entities: [
            Entity("Owner", relationships: [Relationship("tags", to: "Tag", .toMany, inverse: "owners")]),
            Entity("Tag", relationships: [Relationship("owners", to: "Owner", .toMany, inverse: "tags")]),
        ])
    }

    private func error(_ body: () throws -> Void) -> StorageError? {
        do { try body() } catch { return error as? StorageError }
        return nil
    }

    /// A trigger on a table that ignores the rows of a condition.
    private func ignore(_ event: String, _ table: String, _ condition: String, in schema: String) throws {
        let name = "ignore_\(event.lowercased())"
        try TestStore.admin().execute(
            """
            CREATE FUNCTION "\(schema)".\(name)() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
            CREATE TRIGGER \(name) BEFORE \(event) ON "\(schema)"."\(table)" FOR EACH ROW WHEN (\(condition))
                EXECUTE FUNCTION "\(schema)".\(name)()
            """)
    }

    private func apply(_ change: EntityChanges, _ test: TestStore) throws {
        let writer = try test.store.beginWrite(WriteOptions())
        defer { writer.end() }
        try writer.apply(ChangeSet(entities: [change]))
        _ = try writer.commit(CommitRecord())
    }

    private func load(_ keys: [Int64], _ text: String, _ test: TestStore) throws {
        let writer = try test.store.beginWrite(WriteOptions())
        defer { writer.end() }
        try test.rows(keys, text).forEachBatch(RowBatch(capacity: 16_384)) { batch throws(StorageError) in try writer.load(0, batch) }
        _ = try writer.commit(CommitRecord())
    }

    // MARK: Rows

    /// A few rows are sent with the other statements, many are copied.
    @Test(arguments: [1, 3, 100, 3000]) func aNewRowThatATriggerIgnoresIsAnError(_ count: Int64) throws {
        let test = try TestStore()
        defer { test.erase() }
        try ignore("INSERT", "Note", "NEW._id = 1", in: test.name)
        let keys = Array(1...count), others = keys.map { $0 + 1 }
        for refused in [
            error { try apply(EntityChanges(entity: 0, inserts: test.rows(keys, "a")), test) }, error { try load(keys, "a", test) },
        ] {
            #expect(refused?.code == .validationFailed && refused?.details.entity == "Note", "\(refused?.description ?? "done")")
            #expect(refused?.message == "Note is rejected by a trigger of the database, which ignores the change")
            #expect(refused?.details.failures.map(\.key) == [1])
        }
        #expect(try test.count() == 0)
        try apply(EntityChanges(entity: 0, inserts: test.rows(others, "a")), test)
        #expect(try test.count() == Int(count))
    }

    /// What was copied is checked by the next statement, and the transaction cannot be committed after it.
    @Test func aTransactionIsNotCommittedAfterAnIgnoredRow() throws {
        let test = try TestStore()
        defer { test.erase() }
        try ignore("INSERT", "Note", "NEW._id = 1", in: test.name)
        let writer = try test.store.beginWrite(WriteOptions())
        try test.rows([1, 2], "a").forEachBatch(RowBatch(capacity: 2)) { batch throws(StorageError) in try writer.load(0, batch) }
        for _ in 0..<2 { #expect(error { _ = try writer.rows(0, keys: [2], into: RowBatch()) }?.code == .validationFailed) }
        #expect(error { _ = try writer.commit(CommitRecord()) }?.code == .validationFailed)
        writer.end()
        #expect(try test.count() == 0)
        try apply(EntityChanges(entity: 0, inserts: test.rows([3], "b")), test)
        #expect(try test.count() == 1)
    }

    /// A row that is there, in the version that was read, was not changed by another transaction.
    @Test func aChangeThatATriggerIgnoresIsNoConflict() throws {
        let test = try TestStore()
        defer { test.erase() }
        try apply(EntityChanges(entity: 0, inserts: test.rows([1, 2, 3], "a")), test)
        try ignore("UPDATE", "Note", "NEW._id = 2", in: test.name)
        try ignore("DELETE", "Note", "OLD._id = 2", in: test.name)
        var mask = SlotMask()
        mask.insert(0)
        for version in [nil, 1] as [Int64?] {
            func deletions(_ keys: [Int64]) -> EntityChanges {
                EntityChanges(entity: 0, deletes: keys.map { RowDeletion(key: $0, expectedVersion: version) })
            }
            func update(_ keys: [Int64]) -> EntityChanges {
                EntityChanges(entity: 0, updates: [RowUpdate(mask: mask, checksVersion: version != nil, rows: test.rows(keys, "b"))])
            }
            for change in [update([2]), update([1, 2, 3]), deletions([2]), deletions([1, 2, 3]), deletions([7, 2])] {
                let refused = error { try apply(change, test) }
                #expect(refused?.code == .validationFailed && refused?.details.entity == "Note", "\(refused?.description ?? "done")")
            }
        }
        // A version that is not that of the row is a conflict, and a row that is not there is none to change.
        for (key, expected) in [(1, StorageError.Code.staleObject), (2, .staleObject), (7, .notFound)] as [(Int64, StorageError.Code)] {
            let refused = error {
                try apply(EntityChanges(entity: 0, deletes: [RowDeletion(key: key, expectedVersion: 5), RowDeletion(key: 3)]), test)
            }
            #expect(refused?.code == expected, "\(refused?.description ?? "done")")
            if key < 7 { #expect(refused?.details.keys == [key]) }
        }
        #expect(try test.count() == 3)
        try apply(EntityChanges(entity: 0, deletes: [RowDeletion(key: 1, expectedVersion: 1)]), test)
        #expect(try test.count() == 2)
    }

    /// A trigger that puts rows in a table that inherits from theirs, as partitions were made before the server had its own.
    @Test(arguments: [3, 100]) func rowsInOtherTablesAreThere(_ count: Int64) throws {
        let test = try TestStore()
        defer { test.erase() }
        try TestStore.admin().execute(
            """
            SET search_path = "\(test.name)"; CREATE TABLE part() INHERITS ("Note");
            CREATE FUNCTION move() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO part VALUES (NEW.*); RETURN NULL; END $$;
            ALTER FUNCTION move() SET search_path = "\(test.name)";
            CREATE TRIGGER move BEFORE INSERT ON "Note" FOR EACH ROW EXECUTE FUNCTION move(); SET search_path = public
            """)
        try apply(EntityChanges(entity: 0, inserts: test.rows(Array(1...count), "a")), test)
        try load(Array((count + 1)...(2 * count)), "a", test)
        #expect(try test.count() == Int(2 * count))
        #expect(try TestStore.admin().text("SELECT count(*) FROM \"\(test.name)\".part") == "\(2 * count)")
    }

    /// A copy ends before it has kept too many keys.
    @Test func manyRowsAreCopiedInParts() throws {
        let test = try TestStore()
        defer { test.erase() }
        let count = PostgreSQLConnection.mostCopiedRows + 1000
        try load((1...count).map(Int64.init), "a", test)
        #expect(try test.count() == count)
    }

    // MARK: Pairs

    @Test func aPairThatATriggerIgnoresIsAnError() throws {
        let schema = try Self.linked.get(), name = "polystore_\(UUID().uuidString.lowercased())"
        let store = PostgreSQLStore(conninfo: try #require(TestServer.url), schema: name)
        defer { try? store.erase() }
        _ = try store.open(OpenRequest(schema: schema))
        let owner = try #require(schema.index(of: "Owner")), tag = try #require(schema.index(of: "Tag"))
        func apply(_ entities: [EntityChanges] = [], removed: [LinkPair] = [], added: [LinkPair] = [], loads: Bool = false) throws {
            let writer = try store.beginWrite(WriteOptions())
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
        let admin = try TestStore.admin()
        let table = try #require(
            try admin.text(
                "SELECT table_name FROM information_schema.columns WHERE table_schema = '\(name)' AND column_name = 'member'"))
        try ignore("DELETE", table, "OLD.owner = 1", in: name)
        try ignore("INSERT", table, "NEW.member = 2", in: name)
        let kept = LinkPair(owner: 1, member: 1), held = LinkPair(owner: 2, member: 2), free = LinkPair(owner: 2, member: 1)
        let deletion = EntityChanges(entity: tag, deletes: [RowDeletion(key: 1, expectedVersion: 1)])
        for refused in [
            error { try apply(removed: [kept]) }, error { try apply([deletion], removed: [kept]) },
            error { try apply(added: [free, held]) },
            error { try apply(added: [held], loads: true) },
        ] { #expect(refused?.code == .validationFailed && refused?.details.entity == "Owner", "\(refused?.description ?? "done")") }
        // Other pairs are changed, and one that is not there is none to remove.
        try apply(removed: [free], added: [free])
        try apply(removed: [free, LinkPair(owner: 1, member: 2)])
        #expect(try admin.text("SELECT string_agg(owner || '|' || member, ' ') FROM \"\(name)\".\"\(table)\"") == "1|1")
        #expect(try admin.text("SELECT count(*) FROM \"\(name)\".\"Tag\"") == "2")
    }
}
