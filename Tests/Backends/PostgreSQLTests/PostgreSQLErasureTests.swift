import Foundation
import PolystoreSQL
import PolystoreStorage
import RawSessions
import Testing

@testable import PolystorePostgreSQL

/// What is left of a schema when a store in it is erased: all that the store has not made.
@Suite(.enabled(if: TestServer.url != nil, "needs a PostgreSQL server; .ci/run starts one")) struct PostgreSQLErasureTests {
    private let name = "polystore_\(UUID().uuidString.lowercased().replacingOccurrences(of: "-", with: ""))"

    private static func schema(_ version: String) throws -> Schema {
        var notes = [Attribute("text", .string)]
        if version == "V2" { notes.append(Attribute("stars", .int64, defaultValue: .int(3))) }
        return try Schema(
            version: version,
            entities: [
                Entity(
                    "Note", attributes: notes, relationships: [Relationship("tags", to: "Tag", .toMany, inverse: "notes")],
                    indexes: [Index(["text"], kind: .fullText)]),
                // Too long for a name of the server.
                Entity(
                    "Tag", attributes: [Attribute("name", .string)],
                    relationships: [Relationship("notes", to: "Note", .toMany, inverse: "tags")]),
                Entity(String(repeating: "Long", count: 20), attributes: [Attribute("name", .string)]),
            ])
    }

    private func admin() throws -> PostgreSQLConnection {
        try PostgreSQLConnection(conninfo: #require(TestServer.url), schema: "public")
    }

    private func store() throws -> PostgreSQLStore { try PostgreSQLStore(conninfo: #require(TestServer.url), schema: name) }

    private func made() throws -> PostgreSQLStore {
        let store = try store()
        _ = try store.open(OpenRequest(schema: Self.schema("V1")))
        return store
    }

    /// The names of all tables, sequences, views and functions of the schema; nil where there is no such schema.
    private func contents(_ admin: PostgreSQLConnection) throws -> [String]? {
        if try admin.text("SELECT count(*) FROM pg_namespace WHERE nspname = '\(name)'") == "0" { return nil }
        let text = try admin.text(
            """
            SELECT coalesce(string_agg(name, ',' ORDER BY name COLLATE "C"), '') FROM (
                SELECT relname::text FROM pg_class WHERE relnamespace = '\(name)'::regnamespace AND relkind IN ('r', 'S', 'v')
                UNION ALL SELECT proname::text FROM pg_proc WHERE pronamespace = '\(name)'::regnamespace) AS x(name)
            """)
        return (text ?? "").split(separator: ",").map(String.init)
    }

    private static func strangers(_ name: String) -> String {
        """
        CREATE TABLE \(name).orders(id serial PRIMARY KEY, total int); INSERT INTO \(name).orders(total) SELECT generate_series(1, 1000);
        CREATE SEQUENCE \(name).numbers; CREATE VIEW \(name).big AS SELECT * FROM \(name).orders WHERE total > 500;
        CREATE TABLE \(name).polystore_archive AS SELECT 1 AS a;
        CREATE FUNCTION \(name).polystore_of_others() RETURNS int LANGUAGE sql AS 'SELECT 1';
        CREATE FUNCTION \(name).one() RETURNS int LANGUAGE sql AS 'SELECT 1';
        """
    }

    @Test(arguments: [true, false]) func tablesOfOtherProgramsStay(_ isFirst: Bool) throws {
        let admin = try admin()
        defer { try? admin.execute("DROP SCHEMA IF EXISTS \(name) CASCADE") }
        if isFirst { try admin.execute("CREATE SCHEMA \(name); \(Self.strangers(name))") }
        let store = try made()
        if !isFirst { try admin.execute(Self.strangers(name)) }
        try store.erase()
        #expect(
            try contents(admin)
                == ["big", "numbers", "one", "orders", "orders_id_seq", "polystore_archive", "polystore_of_others"])
        #expect(try admin.text("SELECT count(*) FROM \(name).orders") == "1000")
        // It can be made there again.
        try made().erase()
        #expect(try contents(admin)?.count == 7)
    }

    @Test func anExistingSchemaStaysEmpty() throws {
        let admin = try admin()
        defer { try? admin.execute("DROP SCHEMA IF EXISTS \(name) CASCADE") }
        try admin.execute("CREATE SCHEMA \(name)")
        try made().erase()
        #expect(try contents(admin) == [])
    }

    @Test func erasingAStoreThatCreatedItsSchemaLeavesNothing() throws {
        let admin = try admin()
        defer { try? admin.execute("DROP SCHEMA IF EXISTS \(name) CASCADE") }
        try made().erase()
        #expect(try contents(admin) == nil)
        // Also in the middle of a step to another version.
        let store = try made(), step = try MigrationStep(SchemaMapping(from: Self.schema("V1"), to: Self.schema("V2")))
        try store.expand(step, WriteOptions())
        try store.erase()
        #expect(try contents(admin) == nil)
    }

    @Test func aViewOfAnotherProgramPreventsErasing() throws {
        let admin = try admin()
        defer { try? admin.execute("DROP SCHEMA IF EXISTS \(name) CASCADE") }
        let store = try made(), before = try #require(try contents(admin))
        try admin.execute("CREATE VIEW \(name).seen AS SELECT * FROM \(name).\"Tag\"")
        let error = #expect(throws: StorageError.self) { try store.erase() }
        #expect(error?.code == .unsupported)
        #expect(try contents(admin) == (before + ["seen"]).sorted())
        let again = try self.store()
        #expect(try again.open(OpenRequest(schema: Self.schema("V1"))).wasCreated == false)
        try again.close()
        try admin.execute("DROP VIEW \(name).seen")
        try again.erase()
        #expect(try contents(admin) == nil)
    }

    @Test func aReadOnlyStoreIsNotErased() throws {
        let admin = try admin()
        defer { try? admin.execute("DROP SCHEMA IF EXISTS \(name) CASCADE") }
        try made().close()
        let store = try PostgreSQLStore(conninfo: #require(TestServer.url), schema: name, readOnly: true)
        let error = #expect(throws: StorageError.self) { try store.erase() }
        #expect(error?.code == .readOnly)
        #expect(try contents(admin)?.isEmpty == false)
    }

    @Test func aStoreIsWithdrawnUnlessAnotherProgramHasPutSomethingIntoIt() throws {
        let admin = try admin()
        try made().withdraw()
        #expect(try contents(admin) == nil)

        let first = try store(), second = try store()
        #expect(try first.open(OpenRequest(schema: Self.schema("V1"))).wasCreated)
        let other = try OpenStore(opening: second, OpenRequest(schema: Self.schema("V1")))
        defer { try? other.erase() }
        let writer = try other.beginWrite(), tag = try #require(other.schema.index(of: "Tag")), batch = RowBatch()
        batch.appendRow(key: 1, version: 1, entity: tag, slots: 1)[0] = batch.cell(for: .string("a"))
        try writer.load(tag, batch)
        _ = try writer.commit(CommitRecord())
        try first.withdraw()
        let reader = try other.beginRead()
        defer { reader.end() }
        #expect(try reader.values(for: .count(FetchPlan(other.schema, tag))).first?.first == .int(1))
    }

    /// A table of others with the name that an entity needs is named, and the schema remains as it was.
    @Test func aStoreIsNotCreatedOverATableOfOthers() throws {
        let admin = try admin(), made = try made()
        let tables = try #require(try contents(admin))
        try made.erase()
        defer { try? admin.execute("DROP SCHEMA IF EXISTS \(name) CASCADE") }
        let table = try #require(tables.first { $0.lowercased() == "note" })
        try admin.execute("CREATE SCHEMA \(name); CREATE TABLE \(name).\"\(table)\"(id int)")
        let error = #expect(throws: StorageError.self) { try self.made() }
        #expect(error?.code == .alreadyExists)
        #expect(error?.message.contains("\"\(table)\"") == true && error?.message.contains("x-schema") == true)
        #expect(try contents(admin) == [table])
    }

    /// Also that of the metadata, in a form that is not the store's, or with other rows.
    @Test(arguments: [
        "TABLE SCHEMA.polystore_metadata(id int, value text)", "VIEW SCHEMA.polystore_metadata AS SELECT 'a' AS key, 'b' AS value",
        "TABLE SCHEMA.polystore_metadata(key text, value text); INSERT INTO SCHEMA.polystore_metadata VALUES ('a', 'b')",
        "TABLE SCHEMA.polystore_metadata(key int, value jsonb); INSERT INTO SCHEMA.polystore_metadata VALUES (1, '{}')",
        "TYPE SCHEMA.polystore_metadata AS (key text, value text)", "SEQUENCE SCHEMA.polystore_metadata",
    ]) func aTableOfOthersWithTheNameOfTheMetadataIsNamedAndKept(_ creation: String) throws {
        let admin = try admin()
        defer { try? admin.execute("DROP SCHEMA IF EXISTS \(name) CASCADE") }
        try admin.execute("CREATE SCHEMA \(name); CREATE \(creation.replacingOccurrences(of: "SCHEMA", with: name))")
        let store = try PostgreSQLStore(url: StoreURL("\(TestServer.url ?? "")&x-schema=\(name)"))
        for work in [{ _ = try self.made() }, { try store.erase() }] as [() throws -> Void] {
            let error = #expect(throws: StorageError.self) { try work() }
            #expect(error?.code == .alreadyExists && error?.message.contains("polystore_metadata belongs to another program") == true)
        }
        let kept = try admin.number(
            "SELECT count(*) FROM pg_class WHERE relname = 'polystore_metadata' AND relnamespace = '\(raw: name)'::regnamespace")
        #expect(kept == 1)
    }
}
