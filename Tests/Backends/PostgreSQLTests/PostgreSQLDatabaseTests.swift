import Foundation
import PolystoreStorage
import RawSessions
import Testing

@testable import PolystorePostgreSQL

/// What else there is on a server: databases of other encodings, and tables of the same names in other schemas.
@Suite(.enabled(if: TestServer.url != nil)) struct PostgreSQLDatabaseTests {
    private let name = "polystore_\(UUID().uuidString.lowercased().replacingOccurrences(of: "-", with: ""))"
    private let schema = Result {
        try Schema(version: "V1", entities: [Entity("Note", attributes: [Attribute("text", .string)])])
    }

    private func admin() throws -> PostgreSQLConnection {
        try PostgreSQLConnection(conninfo: #require(TestServer.url), schema: "public")
    }

    private func insert(_ store: PostgreSQLStore, _ text: String) throws {
        let writer = try store.beginWrite(WriteOptions())
        defer { writer.end() }
        let key = try writer.reserveKeys(0, count: 1).lowerBound
        let row = RowSource(count: 1) { _, batch in
            let cell = batch.cell(for: .string(text))
            batch.appendRow(key: key, version: 1, entity: 0, slots: 1)[0] = cell
        }
        try writer.apply(ChangeSet(entities: [EntityChanges(entity: 0, inserts: row)]))
        _ = try writer.commit(CommitRecord())
    }

    private func texts(_ store: PostgreSQLStore) throws -> [Value?] {
        let reader = try store.beginRead(), batch = RowBatch()
        defer { reader.end() }
        let cursor = try reader.cursor(for: FetchPlan(schema.get(), 0))
        var texts: [Value?] = []
        while try cursor.next(into: batch) { texts += (0..<batch.count).map { Value(batch.row($0)[0], as: .string) } }
        return texts
    }

    @Test(arguments: ["LATIN1", "SQL_ASCII"]) func aDatabaseThatDoesNotHoldEveryTextIsRefused(_ encoding: String) throws {
        let admin = try admin()
        try admin.execute("CREATE DATABASE \(name) ENCODING '\(encoding)' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
        defer { try? admin.execute("DROP DATABASE \(name) WITH (FORCE)") }
        let url = try TestServer.url(database: name)
        do throws(StorageError) {
            _ = try PostgreSQLStore(url: StoreURL(url)).open(OpenRequest(schema: try? schema.get()))
            Issue.record("the database was taken")
        } catch {
            #expect(error.code == .unsupported && error.message.contains(encoding) && error.message.contains("ENCODING 'UTF8'"))
        }
        // Nothing was made there.
        let there = try PostgreSQLConnection(conninfo: url, schema: "public")
        #expect(try there.text("SELECT count(*) FROM pg_class WHERE relname LIKE 'polystore%'") == "0")
    }

    @Test func tablesOfTheSameNameElsewhereAreNeitherReadNorWritten() throws {
        let admin = try admin(), decoy = name + "_decoy"
        try admin.execute(
            """
            CREATE SCHEMA \(decoy); SET search_path = \(decoy);
            CREATE TABLE "Note"(_id int8, _version int8, text text); INSERT INTO "Note" VALUES (1, 1, 'decoy');
            CREATE TABLE polystore_metadata(key text PRIMARY KEY, value text); INSERT INTO polystore_metadata VALUES ('format', '99');
            CREATE TABLE polystore_history(position int8, time int8, author text, changes bytea);
            CREATE TABLE polystore_notes(name text, value bytea);
            """)
        defer { try? admin.execute("DROP SCHEMA \(decoy) CASCADE") }
        // Even where the connection begins with the other schema in its path.
        let url = try #require(TestServer.url) + "&options=-csearch_path%3D\(decoy)&x-schema=\(name)"
        let store = try PostgreSQLStore(url: StoreURL(url))
        defer { try? store.erase() }
        #expect(try store.open(OpenRequest(schema: schema.get())).wasCreated)
        try insert(store, "ours")
        #expect(try texts(store) == [.string("ours")])
        try store.close()
        #expect(try store.open(OpenRequest(schema: schema.get())).wasCreated == false)
        #expect(try texts(store) == [.string("ours")])
        try store.erase()
        #expect(try admin.text("SELECT string_agg(text, ' ') FROM \(decoy).\"Note\"") == "decoy")
        #expect(try admin.text("SELECT value FROM \(decoy).polystore_metadata") == "99")
        #expect(try admin.text("SELECT count(*) FROM \(decoy).polystore_history") == "0")
    }
}
