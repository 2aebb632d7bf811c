import Foundation
import Testing

#if canImport(Glibc)
import Glibc
#endif

/// `polystore check --repair` over stores that the tools of their engines have damaged.
@Suite struct RepairCommandTests {
    let program: Program
    var folder: URL { program.folder }

    init() throws { program = try Program() }

    func run(_ arguments: String...) throws -> (code: Int32, output: String, error: String) { try program.run(arguments) }

    static let server = ProcessInfo.processInfo.environment["POLYSTORE_TEST_POSTGRES"]

    /// A SQLite store of four notes, two tags, two pages and three parts, with all relationships.
    func notes() throws -> String {
        let model = try program.file(
            "model.json",
            """
            {"entities": [
              {"name": "Note", "attributes": [
                {"name": "text", "type": "string"}, {"name": "rank", "type": "int64", "optional": true},
                {"name": "body", "type": "string", "optional": true}
              ], "relationships": [
                {"name": "twin", "to": "Note", "inverse": "twin"}, {"name": "tags", "to": "Tag", "kind": "toMany", "inverse": "notes"},
                {"name": "parts", "to": "Part", "kind": "toManyOrdered", "inverse": "whole"}
              ], "indexes": [["rank"]]},
              {"name": "Page", "attributes": [{"name": "words", "type": "string", "optional": true}],
               "indexes": [{"properties": ["words"], "kind": "fullText"}]},
              {"name": "Tag", "attributes": [{"name": "name", "type": "string"}], "relationships": [
                {"name": "notes", "to": "Note", "kind": "toMany", "inverse": "tags"}
              ], "unique": [["name"]]},
              {"name": "Part", "relationships": [{"name": "whole", "to": "Note", "inverse": "parts", "optional": false}]}
            ]}
            """)
        let mapping = try program.file(
            "load.json",
            """
            {"files": [
              {"file": "tags.csv", "entity": "Tag"}, {"file": "pages.csv", "entity": "Page"},
              {"file": "notes.csv", "entity": "Note", "relationships": {"twin": {"text": "twin"}, "tags": {"name": "tags"}}},
              {"file": "parts.csv", "entity": "Part", "relationships": {"whole": {"text": "whole"}}}
            ]}
            """)
        _ = try program.file("pages.csv", "words\nred sky\nsea\n")
        _ = try program.file("tags.csv", "name\nx\ny\n")
        _ = try program.file("notes.csv", "text,rank,body,twin,tags\na,1,red sky,b,x\nb,2,,a,y\nc,3,sea,,x\nd,4,,,\n")
        _ = try program.file("parts.csv", "whole\na\na\nb\n")
        let store = "sqlite:\(folder.path)/a.db", loaded = try run("load", store, "--mapping", mapping, "--model", model)
        try #require(loaded.code == 0, "\(loaded)")
        return store
    }

    /// Changes rows while the engine does not maintain an index of their table.
    func withoutIndex(_ name: String, _ statements: String) throws {
        let page = try program.sqlite3("a.db", "SELECT rootpage FROM sqlite_master WHERE name = '\(name)'").dropLast()
        let sql = try program.sqlite3("a.db", "SELECT sql FROM sqlite_master WHERE name = '\(name)'").dropLast()
        try program.sqlite3("a.db", "PRAGMA writable_schema = ON; DELETE FROM sqlite_master WHERE name = '\(name)'")
        try program.sqlite3(
            "a.db",
            "\(statements); PRAGMA writable_schema = ON; INSERT INTO sqlite_master VALUES('index', '\(name)', 'Note', \(page), '\(sql)')")
    }

    func lines(_ text: String) -> [String] { text.split(separator: "\n").map(String.init) }

    @Test func aDamagedSQLiteFileIsMended() throws {
        let store = try notes()
        try withoutIndex("Note.index.rank", "INSERT INTO Note VALUES(5000, 1, 'z', 9, NULL, 77); UPDATE Note SET rank = NULL WHERE _id = 1")
        try program.sqlite3(
            "a.db",
            """
            INSERT INTO "Note.tags" VALUES(1, 0, 99), (98, 0, 1); DELETE FROM "Note.parts" WHERE member = 2;
            DELETE FROM "Page.fullText.words.words_docsize" WHERE id = 2; UPDATE Note SET twin = NULL WHERE _id = 2;
            """)
        let checked = try run("check", store)
        #expect(checked.code == 1 && checked.error == "polystore: check --repair mends 9 of 9 findings\n", "\(checked)")
        #expect(
            checked.output.contains("Note: the index Note.index.rank lacks entries of rows: 2; --repair rebuilds the indexes of Note\n"))
        let refused = try run("check", store, "--repair")
        #expect(refused.code == 5 && refused.error.hasSuffix("confirm with --yes\n") && refused.output == checked.output)
        #expect(try run("check", store).output == checked.output)

        let repaired = try run("check", store, "--repair", "--yes")
        #expect(repaired.code == 0 && repaired.error.hasSuffix("0 findings are left\n"), "\(repaired)")
        #expect(try run("check", store).output == "nothing was found\n")
        let integrity = try program.sqlite3("a.db", "PRAGMA integrity_check")
        #expect(!integrity.contains("index"), "\(integrity)")
        #expect(try program.sqlite3("a.db", "SELECT _id FROM Note INDEXED BY \"Note.index.rank\" WHERE rank > 3") == "4\n5000\n")
        #expect(try program.sqlite3("a.db", "SELECT _id, twin FROM Note WHERE _id IN (1, 2, 5000)") == "1|2\n2|1\n5000|\n")
        #expect(try program.sqlite3("a.db", "SELECT owner, member FROM \"Note.tags\" ORDER BY owner") == "1|1\n2|2\n3|1\n")
        let words = "\"Page.fullText.words.words\""
        #expect(try program.sqlite3("a.db", "SELECT rowid FROM \(words) WHERE \(words) MATCH 'sea'") == "2\n")
        #expect(try program.sqlite3("a.db", "SELECT count(*) FROM \"Page.fullText.words.words_docsize\"") == "2\n")
        #expect(try run("history", store).output.contains("polystore check --repair"))
    }

    @Test func unreadableDataAreRemovedOnlyAfterTheyWereSaved() throws {
        let store = try notes(), file = "\(folder.path)/unreadable.ndjson"
        try program.sqlite3(
            "a.db",
            """
            UPDATE Note SET text = CAST(x'ff41' AS TEXT) WHERE _id = 4; UPDATE Note SET body = CAST(x'fe' AS TEXT) WHERE _id = 3;
            INSERT INTO polystore_history VALUES(1, 5, 'me', x'01000201'), (2, 5, 'me', x'ffff'), (3, 5, 'you', x'01000201');
            """)
        let kept = try run("check", store, "--repair", "--yes")
        #expect(kept.code == 1 && kept.error.contains("none of the findings can be mended"), "\(kept)")
        let repaired = try run("check", store, "--repair", "--yes", "--remove-unreadable", file)
        #expect(repaired.code == 0, "\(repaired)")
        let saved = lines(try String(contentsOfFile: file, encoding: .utf8))
        #expect(saved.count == 4)
        #expect(saved[0].hasPrefix(#"{"entity":"Note","key":3,"columns":[{"name":"_version","type":"integer","text":"1","hex":"31"},"#))
        #expect(
            saved[0].contains(#"{"name":"body","type":"text","hex":"fe"}"#)
                && saved[1].contains(#"{"name":"text","type":"text","hex":"ff41"}"#))
        #expect(saved[2].hasPrefix(#"{"history":1,"#) && saved[3].contains(#"{"name":"changes","type":"blob","hex":"ffff"}"#))
        #expect(try program.sqlite3("a.db", "SELECT _id, body FROM Note WHERE _id > 2") == "3|\n")
        // The entry after the damaged one is still there; tokens from before it are refused.
        let history = lines(try run("history", store, "--json").output)
        #expect(history.first?.contains(#""author":"you""#) == true && history.count == 3, "\(history)")
        let id = try program.sqlite3("a.db", "SELECT value FROM polystore_metadata WHERE key = 'store'").dropLast()
        let expired = try run("history", store, "--since", "\(id):1")
        #expect(expired.code == 2 && expired.error.contains("purged"), "\(expired)")
        // A second repair keeps what the file has.
        try program.sqlite3("a.db", "UPDATE Note SET body = CAST(x'fd' AS TEXT) WHERE _id = 1")
        #expect(try run("check", store, "--repair", "--yes", "--remove-unreadable", file).code == 0)
        #expect(try lines(String(contentsOfFile: file, encoding: .utf8)).dropLast() == saved[...])
    }

    @Test func aRequiredReferenceIsBrokenUntilItsObjectMayBeDeleted() throws {
        let store = try notes()
        try program.sqlite3("a.db", "DELETE FROM Note WHERE _id = 2; UPDATE Note SET text = NULL WHERE _id = 3")
        let first = try run("check", store, "--repair", "--yes")
        #expect(first.code == 1 && first.error.hasSuffix("2 findings are left\n"), "\(first)")
        #expect(first.output.contains("left: Part.whole of object 3: refers to object 2 of Note, which does not exist\n"))
        #expect(try program.sqlite3("a.db", "SELECT _id FROM Part") == "1\n2\n3\n")
        let second = try run("check", store, "--repair", "--delete-broken", "--yes", "--json")
        #expect(
            second.code == 0 && second.output.contains(#""repair":"deletes the object","option":"--delete-broken","left":false}"#),
            "\(second)")
        #expect(try program.sqlite3("a.db", "SELECT _id FROM Part") == "1\n2\n")
        #expect(try program.sqlite3("a.db", "SELECT _id FROM Note") == "1\n4\n")
    }

    @Test func aWholeFileIsNotTouched() throws {
        let store = try notes(), file = folder.appendingPathComponent("a.db")
        let before = try Data(contentsOf: file)
        let checked = try run("check", store, "--repair", "--delete-broken", "--remove-unreadable", "\(folder.path)/none", "--yes")
        #expect(checked.code == 0 && checked.output == "nothing was found\n" && checked.error.isEmpty, "\(checked)")
        #expect(try Data(contentsOf: file) == before)
        #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/none"))
        #expect(try run("check", store, "--delete-broken").code == 64)
    }

    @Test func aFileWithDamagedPagesIsRefused() throws {
        let store = try notes(), file = folder.appendingPathComponent("a.db")
        try program.sqlite3("a.db", "UPDATE Note SET twin = 77 WHERE _id = 3; PRAGMA wal_checkpoint(TRUNCATE)")
        let pages = try program.sqlite3("a.db", "SELECT rootpage FROM sqlite_master WHERE name = 'Note.parts.member'").dropLast()
        var bytes = try Data(contentsOf: file)
        let start = (try #require(Int(pages)) - 1) * 8192
        bytes.replaceSubrange((start + 3)..<(start + 7), with: [0xff, 0xff, 0xff, 0xff])
        try bytes.write(to: file)
        let refused = try run("check", store, "--repair", "--yes")
        #expect(refused.code == 2 && refused.error.contains("from a backup"), "\(refused)")
        #expect(try Data(contentsOf: file) == bytes)
    }

    @Test func theDatabaseOfAnotherProgramIsNotRepaired() throws {
        try program.sqlite3("other.db", "CREATE TABLE b(id INTEGER PRIMARY KEY, a INTEGER); CREATE INDEX i ON b(a)")
        let page = try program.sqlite3("other.db", "SELECT rootpage FROM sqlite_master WHERE name = 'i'").dropLast()
        try program.sqlite3("other.db", "PRAGMA writable_schema = ON; DELETE FROM sqlite_master WHERE name = 'i'")
        try program.sqlite3(
            "other.db",
            "INSERT INTO b VALUES(1, 5); PRAGMA writable_schema = ON; INSERT INTO sqlite_master VALUES('index', 'i', 'b', \(page), 'CREATE INDEX i ON b(a)')"
        )
        for catalog in ["foreign", "inplace"] {
            let refused = try run("check", "sqlite:\(folder.path)/other.db?catalog=\(catalog)", "--repair", "--yes")
            #expect(refused.code == 2 && refused.error.contains("belong to another program"), "\(catalog): \(refused)")
        }
        #expect(try program.sqlite3("other.db", "SELECT * FROM b") == "1|5\n")
    }

    /// Each part of a repair is a transaction, so a repair that is killed after one of them is finished by the same command.
    @Test func aKilledRepairIsFinishedByTheSameCommand() throws {
        let store = try notes()
        try program.sqlite3(
            "a.db",
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000)
            INSERT INTO Note SELECT i + 10, 1, 't' || i, i, 'words', 900000 + i FROM n;
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000)
            INSERT INTO "Note.tags" SELECT i + 10, 0, 900000 + i FROM n;
            UPDATE polystore_counters SET next = 5;
            """)
        for part in ["done: raise", "done: set", ""] {
            let process = Program.process(["check", store, "--repair", "--yes", "--limit", "1"]), error = Pipe()
            process.standardOutput = FileHandle.nullDevice
            process.standardError = error
            try process.run()
            var text = "", buffer = [UInt8](repeating: 0, count: 4096)
            while !part.isEmpty, !text.contains(part) {
                let count = read(error.fileHandleForReading.fileDescriptor, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                if count <= 0 { break }
                text += String(decoding: buffer[..<count], as: UTF8.self)
            }
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
        let finished = try run("check", store, "--repair", "--yes", "--limit", "1")
        #expect(finished.code == 0, "\(finished)")
        #expect(try run("check", store).output == "nothing was found\n")
        #expect(try program.sqlite3("a.db", "SELECT count(*), count(twin) FROM Note; SELECT count(*) FROM \"Note.tags\"") == "30004|2\n3\n")
    }

    // MARK: LMDB

    func shell(_ command: String) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", command]
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "\(command)")
    }

    /// Dumps an LMDB file, changes the pairs of its maps, and loads it again, by the tools of LMDB.
    func edit(_ name: String, _ change: (_ map: String, _ pairs: inout [(key: String, value: String)]) -> Void) throws -> String {
        let from = "\(folder.path)/\(name)", dump = "\(folder.path)/dump.txt", to = "\(folder.path)/edited.lmdb"
        try shell("mdb_dump -n -a '\(from)' > '\(dump)'")
        var edited = "", map = "", pairs: [(key: String, value: String)] = [], key: String?, isBody = false
        for line in try String(contentsOfFile: dump, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false) {
            if line == "DATA=END" {
                change(map, &pairs)
                edited += pairs.map { "\($0.key)\n\($0.value)\n" }.joined() + "DATA=END\n"
                (pairs, isBody) = ([], false)
            } else if isBody {
                if let first = key { pairs.append((first, String(line))) }
                key = key == nil ? String(line) : nil
            } else {
                if line.hasPrefix("database=") { map = String(line.dropFirst(9)) }
                if line == "HEADER=END" { isBody = true }
                edited += line.isEmpty ? "" : line + "\n"
            }
        }
        try edited.write(toFile: dump, atomically: true, encoding: .utf8)
        try shell("mdb_load -n -f '\(dump)' '\(to)'")
        return "lmdb:\(to)"
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/mdb_load"))) func aDamagedLMDBFileIsMended() throws {
        let whole = "lmdb:\(folder.path)/a.lmdb", file = "\(folder.path)/unreadable.ndjson"
        #expect(try run("transfer", notes(), whole, "-q").code == 0)
        let store = try edit("a.lmdb") { map, pairs in
            switch map {
            case "Note.index.rank", "Note.tags.member", "Note.parts", "Page.fullText.words": pairs.removeFirst()
            case "Note.index.twin": pairs.append((pairs[pairs.count - 1].key.dropLast() + "9", pairs[0].value))
            // The value of the last note no longer has its checksum.
            case "Note": pairs[3].value = pairs[3].value.dropLast(2) + "07"
            default: break
            }
        }
        let checked = try run("check", store)
        #expect(checked.code == 1, "\(checked)")
        for text in [
            "Note: the index Note.index.rank lacks entries of objects: 1; --repair rebuilds the indexes of Note",
            "Note: the index Note.index.twin has entries that no object has:", "Page: the index Page.fullText.words lacks entries",
            "Note of object 4: the row cannot be decoded; --repair --remove-unreadable saves the stored row and removes it",
            "Note.tags of object 1: has object 1 as a member, but not at the other side of the relationship;",
            "Note.parts of object 1: has object 1 as a member, but only at the other side of the relationship;",
        ] { #expect(checked.output.contains(text), "\(text): \(checked.output)") }
        let kept = try run("check", store, "--repair", "--yes")
        #expect(kept.code == 1 && kept.output.hasSuffix("left: Note of object 4: the row cannot be decoded\n"), "\(kept)")
        let repaired = try run("check", store, "--repair", "--yes", "--remove-unreadable", file)
        #expect(repaired.code == 0, "\(repaired)")
        #expect(
            try String(contentsOfFile: file, encoding: .utf8).hasPrefix(
                #"{"entity":"Note","key":4,"columns":[{"name":"record","type":"bytes","hex":""#))
        #expect(try run("query", store, "Note", "--where", "rank >= 1", "--count").output.hasPrefix("3"))
        // Everything else is as it was.
        #expect(try run("diff", whole, store).output == "- Note 4\n")
    }

    // MARK: PostgreSQL

    func psql(_ statements: String) throws -> String {
        let process = Process(), output = Pipe(), input = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/psql")
        process.arguments = ["-q", "-At", "-v", "ON_ERROR_STOP=1", Self.server ?? ""]
        (process.standardInput, process.standardOutput) = (input, output)
        try process.run()
        try input.fileHandleForWriting.write(contentsOf: Data(statements.utf8))
        try input.fileHandleForWriting.close()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "\(statements)")
        return text
    }

    @Test(.enabled(if: server != nil && FileManager.default.isExecutableFile(atPath: "/usr/bin/psql")))
    func aDamagedPostgreSQLSchemaIsMended() throws {
        let name = "repair_\(UUID().uuidString.lowercased().prefix(8))", file = "\(folder.path)/unreadable.ndjson"
        let server = Self.server ?? "", store = server + (server.contains("?") ? "&" : "?") + "x-schema=\(name)"
        #expect(try run("transfer", notes(), store, "-q").code == 0)
        defer { _ = try? psql("DROP SCHEMA \(name) CASCADE") }
        // An index that is not ready is not maintained.
        _ = try psql(
            """
            SET search_path = \(name);
            UPDATE pg_index SET indisready = false, indisvalid = false WHERE indexrelid = '"Note.index.rank"'::regclass;
            INSERT INTO "Note"("_id", "_version", text, rank, twin) VALUES(500000, 1, 'z', 9, 77), (500001, 1, NULL, 8, NULL);
            UPDATE pg_index SET indisready = true, indisvalid = true WHERE indexrelid = '"Note.index.rank"'::regclass;
            UPDATE "Note" SET twin = NULL WHERE "_id" = 2; INSERT INTO "Note.tags" VALUES(1, 0, 99), (98, 0, 1);
            DELETE FROM "Note.parts" WHERE member = 2; INSERT INTO "Part" VALUES(10, 1, 55);
            INSERT INTO polystore_history VALUES(1, 5, 'me', '\\xffff');
            """)
        let found = "SET search_path = \(name); SET enable_seqscan = off; SELECT \"_id\" FROM \"Note\" WHERE rank > 3 ORDER BY \"_id\""
        #expect(try psql(found) == "4\n")
        let checked = try run("check", store)
        #expect(
            checked.code == 1 && checked.output.contains("Note: the index Note.index.rank has other rows than the table;"), "\(checked)")
        let repaired = try run("check", store, "--repair", "--delete-broken", "--remove-unreadable", file, "--yes")
        #expect(repaired.code == 0, "\(repaired)")
        #expect(try run("check", store).output == "nothing was found\n")
        #expect(try psql(found) == "4\n500000\n")
        #expect(try psql("SELECT \"_id\" FROM \(name).\"Part\" ORDER BY 1") == "1\n2\n3\n")
        #expect(try String(contentsOfFile: file, encoding: .utf8).hasSuffix(#"{"name":"changes","type":"bytea","hex":"ffff"}]}"# + "\n"))
        #expect(try lines(run("history", store).output).allSatisfy { $0.contains("polystore check --repair") })
    }
}
