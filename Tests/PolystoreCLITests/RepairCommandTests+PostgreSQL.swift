import Foundation
import Testing

/// Repairs of a PostgreSQL schema whose definitions were changed.
extension RepairCommandTests {
    private static let isEnabled = server != nil && FileManager.default.isExecutableFile(atPath: "/usr/bin/psql")

    /// Runs a test over a new schema with the notes.
    private func withSchema(_ body: (_ store: String, _ path: String) throws -> Void) throws {
        let name = "repair_\(UUID().uuidString.lowercased().prefix(8))", server = Self.server ?? ""
        let store = server + (server.contains("?") ? "&" : "?") + "x-schema=\(name)"
        try #require(run("transfer", notes(), store, "-q").code == 0)
        defer { _ = try? psql("DROP SCHEMA \(name) CASCADE") }
        try body(store, "SET search_path = \(name);")
    }

    private func definitions(_ path: String) throws -> String {
        try psql(
            """
            \(path) SELECT indexdef FROM pg_indexes WHERE schemaname = current_schema ORDER BY 1;
            SELECT tgrelid::regclass, tgname, tgenabled FROM pg_trigger WHERE tgrelid IN
            (SELECT oid FROM pg_class WHERE relnamespace = current_schema::regnamespace) ORDER BY 1, 2;
            SELECT attrelid::regclass, attname FROM pg_attribute WHERE attnotnull AND attnum > 0 AND attrelid IN
            (SELECT oid FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema::regnamespace) ORDER BY 1, 2
            """)
    }

    @Test(.enabled(if: isEnabled)) func indexesTriggersAndColumnsOfASchemaAreThoseOfTheModel() throws {
        try withSchema { store, path in
            #expect(try run("check", store).output == "nothing was found\n")
            let before = try definitions(path)
            _ = try psql(
                """
                \(path) DROP INDEX "Note.index.rank"; DROP INDEX "Note.index.twin"; CREATE INDEX "Note.index.twin" ON "Note"(rank);
                DROP INDEX "Note.parts.member"; DROP INDEX "Tag.unique.name"; CREATE INDEX "Tag.index.old" ON "Tag"(name);
                CREATE INDEX mine ON "Note"(body); ALTER TABLE "Part" DROP CONSTRAINT "Part_pkey"; DROP TRIGGER polystore_tell ON "Tag";
                ALTER TABLE "Note" DISABLE TRIGGER polystore_tell; ALTER TABLE "Note" ALTER _version DROP NOT NULL;
                ALTER TABLE "Note.parts" ALTER rank DROP NOT NULL; UPDATE "Note" SET _version = NULL WHERE _id = 1;
                UPDATE "Note.parts" SET rank = NULL WHERE member = 2; DROP TRIGGER polystore_tell ON polystore_history;
                DROP INDEX "Page.fullText.words.words";
                """)
            let found = try findings(store), left = try unmended(store).map { String($0.dropFirst(6)) }
            for text in [
                "Note: the index Note.index.rank is missing", "Note: the index Note.index.twin is not that of the model",
                "Note.parts: the index Note.parts.member is missing", "Tag: the index Tag.unique.name is missing",
                "Tag: the model has no index Tag.index.old", "Part: the primary key is missing",
                "Tag: the trigger polystore_tell is missing", "Note: the trigger polystore_tell is disabled or another one",
                "polystore_history: the trigger polystore_tell is missing", "Note: the column _version accepts NULL",
                "Note.parts: the column rank accepts NULL", "Note of object 1: the version of the object is not positive",
                "Note.parts of object 1: has members without a position", "Page: the index Page.fullText.words.words is missing",
            ] { #expect(found.contains(text), "\(text): \(found)") }
            #expect(left == ["Note: the index mine was made by another program, which can remove it (DROP INDEX)"])
            #expect(found.count == 15, "\(found)")
            try repairAndCompare(store)
            _ = try psql("\(path) DROP INDEX mine")
            #expect(try definitions(path) == before)
            #expect(try psql("\(path) SELECT member FROM \"Note.parts\" WHERE owner = 1 ORDER BY rank") == "1\n2\n")
        }
    }

    @Test(.enabled(if: isEnabled)) func rowsWithOneKeyAndEqualValuesAreReportedAndBlockNothing() throws {
        try withSchema { store, path in
            _ = try psql(
                """
                \(path) ALTER TABLE "Tag" DROP CONSTRAINT "Tag_pkey"; DROP INDEX "Tag.unique.name"; DROP INDEX "Note.index.rank";
                INSERT INTO "Tag"(_id, _version, name) VALUES(2, 1, 'z'), (3, 1, 'x'); UPDATE "Note" SET twin = 77 WHERE _id = 3;
                """)
            let found = try findings(store), left = try unmended(store).map { String($0.dropFirst(6)) }
            #expect(
                Set(left) == [
                    "Tag of object 2: 2 rows have this key", "Tag: the primary key is missing",
                    "Tag.name of object 3: has the same values as object 1 under the unique constraint Tag(name)",
                    "Tag: the index Tag.unique.name is missing",
                ], "\(found)")
            #expect(found.count == 6, "\(found)")
            try repairAndCompare(store)
            _ = try psql("\(path) DELETE FROM \"Tag\" WHERE name = 'z' OR _id = 3")
            try repairAndCompare(store)
            #expect(try findings(store) == ["nothing was found"])
        }
    }

    /// The server writes conditions and terms in another form than Polystore.
    @Test(.enabled(if: isEnabled)) func definitionsThatTheServerWritesOtherwiseAreTheSame() throws {
        let model = try program.file(
            "wide.json",
            #"""
            {"entities": [
              {"name": "Thing", "attributes": [
                {"name": "name", "type": "string"}, {"name": "size", "type": "int64", "optional": true}, {"name": "done", "type": "bool"},
                {"name": "small", "type": "int16", "optional": true}, {"name": "at", "type": "date", "optional": true},
                {"name": "price", "type": "decimal", "optional": true}, {"name": "select", "type": "string", "optional": true}
              ], "indexes": [
                ["name", "size"], ["at"], ["price"], ["select"], {"properties": ["size"], "where": "size > -5 AND size <= 9999999999"},
                {"properties": ["name"], "where": "name == 'it\\'s \\\\ so' OR size != nil"},
                {"properties": ["name"], "where": "done == true AND size != nil"}, {"properties": ["name"], "kind": "fullText"}
              ], "unique": [["name", "small"], ["select"]]},
              {"name": "Part", "parent": "Thing", "attributes": [{"name": "code", "type": "string", "optional": true}],
               "unique": [["size"], ["code"]]},
              {"name": "Wheel", "parent": "Part"}
            ]}
            """#)
        let name = "repair_\(UUID().uuidString.lowercased().prefix(8))", server = Self.server ?? ""
        defer { _ = try? psql("DROP SCHEMA \(name) CASCADE") }
        let csv = try program.file("things.csv", "name,done\na,true\n")
        for store in [server + (server.contains("?") ? "&" : "?") + "x-schema=\(name)", "sqlite:\(folder.path)/wide.db"] {
            let loaded = try run("load", store, csv, "--entity", "Thing", "--model", model)
            try #require(loaded.code == 0, "\(loaded)")
            #expect(try run("check", store).output == "nothing was found\n")
        }
    }
}
