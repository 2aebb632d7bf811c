import Foundation
import PolystoreStorage
import RawSessions
import Testing

@testable import PolystorePostgreSQL

/// What a step between two versions asks of the server: indexes before triggers that need them, short locks, and tables that nobody else writes.
@Suite(.enabled(if: TestServer.url != nil)) struct PostgreSQLRollingTests {
    private static func schema(_ version: String, vet: Bool) throws -> Schema {
        let pet = Entity(
            "Pet", attributes: [Attribute("name", .string)], relationships: vet ? [Relationship("vet", to: "Person")] : [])
        return try Schema(version: version, entities: [Entity("Person", attributes: [Attribute("name", .string)]), pet])
    }

    /// A store of the older version on its own, with the step to the newer one.
    private func run(_ body: (PostgreSQLStore, MigrationStep, PostgreSQLConnection) throws -> Void) throws {
        let name = "polystore_\(UUID().uuidString.lowercased())"
        let store = try PostgreSQLStore(url: StoreURL("\(#require(TestServer.url))&x-schema=\(name)"))
        let before = try Self.schema("V1", vet: false), after = try Self.schema("V2", vet: true)
        _ = try store.open(OpenRequest(schema: before))
        defer { try? store.erase() }
        let witness = try PostgreSQLConnection(conninfo: try #require(TestServer.url), schema: name)
        try body(store, MigrationStep(SchemaMapping(from: before, to: after)), witness)
    }

    private func insert(_ store: PostgreSQLStore, _ count: Int) throws {
        for _ in 0..<count {
            let writer = try store.beginWrite(WriteOptions())
            defer { writer.end() }
            let key = try writer.reserveKeys(0, count: 1).lowerBound
            let row = RowSource(count: 1) { _, batch in
                let cell = batch.cell(for: .string("x"))
                batch.appendRow(key: key, version: 1, entity: 0, slots: 1)[0] = cell
            }
            try writer.apply(ChangeSet(entities: [EntityChanges(entity: 0, inserts: row)]))
            _ = try writer.commit(CommitRecord())
        }
    }

    @Test func deletionsLookForReferencesWhenTheseHaveAnIndex() throws {
        try run { store, step, witness in
            let triggers =
                "SELECT count(*) FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid "
                + "WHERE c.relnamespace = '\"\(store.schema)\"'::regnamespace AND t.tgname LIKE 'polystore\\_rolling\\_delete%'"
            let indexes =
                "SELECT count(*) FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0] "
                + "WHERE i.indrelid = '\"Pet\"'::regclass AND a.attname = 'vet' AND i.indisvalid"
            try store.expand(step, WriteOptions())
            #expect(try witness.text(triggers) == "0")
            try store.backfill(BackfillPace()) { _ in }
            #expect(try witness.text(triggers) == "1")
            #expect(try witness.text(indexes) == "1")
        }
    }

    /// What takes time with the length of the history lies behind when others are kept out.
    @Test func theHistoryIsWrittenBeforeTheExclusiveLock() throws {
        try run { store, step, witness in
            try insert(store, 3)
            try store.expand(step, WriteOptions())
            try insert(store, 3)
            try store.backfill(BackfillPace()) { _ in }
            try insert(store, 3)
            var left: String?
            struct Stop: Error {}
            let refused = #expect(throws: StorageError.self) {
                try store.contract(WriteOptions()) { _ throws(StorageError) in
                    left = try witness.text("SELECT count(*) FROM polystore_history WHERE changes_next IS NULL")
                    throw StorageError(.dataLossRefused, "stop")
                }
            }
            #expect(refused?.code == .dataLossRefused && left == "0")
            // Nothing has happened: programs of both versions go on, and the step can be ended.
            try insert(store, 1)
            #expect(try store.rollingMigration()?.phase == .ready)
            try store.contract(WriteOptions()) { _ in }
            let reader = try store.beginSettledRead()
            defer { reader.end() }
            #expect(try reader.history(since: nil, limit: 100).count == 10)
        }
    }

    @Test func anOnlineMigrationCannotEndWhileAnIndexIsBuilt() throws {
        try run { store, step, witness in
            try store.expand(step, WriteOptions())
            let lock = Int64(bitPattern: SchemaHash(of: "polystore \(store.schema)").words[0]) &+ 2
            try witness.execute("SELECT pg_advisory_lock(\(lock))")
            let refused = #expect(throws: StorageError.self) {
                try store.abandon(acceptingLosses: false, WriteOptions(timeout: 0.5))
            }
            #expect(refused?.code == .busy && refused?.message.contains("index") == true)
            try witness.execute("SELECT pg_advisory_unlock(\(lock))")
            try store.abandon(acceptingLosses: false, WriteOptions())
        }
    }

    @Test func manualWritesWaitForAMigration() throws {
        try run { store, step, witness in
            try insert(store, 1)
            let migration = try store.beginMigration(step, WriteOptions())
            try witness.execute("SET lock_timeout = '300ms'")
            for statement in [
                "INSERT INTO \"Person\" VALUES (99, 1, 'by hand')", "UPDATE \"Pet\" SET name = 'by hand'", "DELETE FROM \"Person\"",
            ] {
                let refused = #expect(throws: StorageError.self) { try witness.execute(statement) }
                #expect(refused?.code == .busy, "\(statement)")
            }
            #expect(try witness.text("SELECT count(*) FROM \"Person\"") == "1")
            migration.end()
            try witness.execute("INSERT INTO \"Person\" VALUES (99, 1, 'by hand')")
        }
    }
}
