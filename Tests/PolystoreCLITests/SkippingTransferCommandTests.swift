import Foundation
import Testing

/// `polystore transfer --on-error skip`, its pace and its pauses, through the built program.
@Suite struct SkippingTransferCommandTests {
    private let program: Program
    private let source: String

    /// Eight products of a database of another program, and their makers. Product 2 has a text with U+0000, the price of product 3 is no number,
    /// and the name of maker 2 contains U+0000. Products must have a line, and the title of line 2 contains U+0000.
    init() throws {
        program = try Program()
        source = "sqlite:\(program.folder.path)/shop.db?catalog=foreign"
        try program.sqlite3(
            "shop.db",
            """
            CREATE TABLE line(id INTEGER PRIMARY KEY, title TEXT NOT NULL);
            CREATE TABLE maker(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
            CREATE TABLE product(id INTEGER PRIMARY KEY, title TEXT, price INTEGER, maker_id INTEGER REFERENCES maker(id),
              line_id INTEGER NOT NULL REFERENCES line(id));
            INSERT INTO line VALUES(1, 'round'), (2, 'squ' || char(0) || 'are');
            INSERT INTO maker VALUES(1, 'a'), (2, 'b' || char(0));
            INSERT INTO product VALUES(1, 'x', 1, 1, 1), (2, 'y' || char(0), 2, 1, 1), (3, 'z', 'much', 1, 1), (4, 'v', 4, 2, 1),
              (5, 'w', 5, 1, 2), (6, 'u', 6, NULL, 1);
            """)
    }

    private func path(_ name: String) -> String { program.folder.appendingPathComponent(name).path }

    private func transfer(_ target: String, _ options: String...) throws -> (code: Int32, output: String, error: String) {
        try program.run(["transfer", source, target] + options)
    }

    private func lines(_ name: String) throws -> [String] {
        try String(contentsOfFile: path(name), encoding: .utf8).split(separator: "\n").map(String.init)
    }

    /// A row that the target refuses for itself is left out although it refers to one that was left out, which the target has too.
    @Test(arguments: ["sqlite", "lmdb"], [[], ["--no-verify"]])
    func aMergeLeavesOutEachRefusedRow(_ kind: String, _ options: [String]) throws {
        let model = try program.file(
            "m.json",
            """
            {"entities": [{"name": "N", "attributes": [{"name": "t", "type": "string", "unique": true, "optional": true}], \
            "relationships": [{"name": "up", "to": "N"}]}]}
            """)
        let mapping = try program.file(
            "l.json", #"{"files": [{"file": "x.csv", "entity": "N", "relationships": {"up": {"t": "up"}}}]}"#)
        let from = "\(kind):\(path("from.db"))", to = "\(kind):\(path("to.db"))"
        for (store, text) in [(from, "t,up\nc,b\nb,\n"), (to, "t,up\nd,\nc,\nb,\n")] {
            _ = try program.file("x.csv", text)
            #expect(try program.run(["load", store, "--mapping", mapping, "--model", model, "-q"]).code == 0)
        }
        let before = try program.run(["query", to, "N"]).output
        let merged = try program.run(
            ["transfer", from, to, "--if-exists", "merge", "--on-error", "skip", "--rejects", path("mr.ndjson")] + options)
        #expect(merged.code == 3 && merged.error.contains("2 rows were left out"), "\(merged)")
        #expect(try program.run(["query", to, "N"]).output == before)
        let keys = try lines("mr.ndjson").map { $0.firstMatch(of: /"polystore_key":([0-9]+)/).map { String($0.1) } }
        #expect(keys == ["1", "2"])
    }

    @Test(arguments: TransferCommandTests.kinds) func rowsThatCannotBeCopiedAreWrittenToAFileThatCanBeLoaded(_ kind: String) throws {
        let target = program.target(kind), skipping = ["--on-error", "skip", "--rejects", path("rejects.ndjson")]
        let stopped = try transfer(target)
        #expect(stopped.code == 2 && stopped.error.contains("U+0000"), "\(stopped)")
        let plan = try transfer(target, "--on-error", "skip", "--plan")
        #expect(plan.code == 0 && plan.output.contains("note: 3 rows of product would be left out"), "\(plan)")
        #expect(plan.output.contains("note: 1 references of product.maker would become nil"), "\(plan)")
        let few = try transfer(target, "--on-error", "skip", "--rejects", path("rejects.ndjson"), "--max-errors", "4")
        #expect(few.code == 2 && few.error.contains("more than 4 rows cannot be copied"), "\(few)")
        let copied = try program.run(["transfer", source, target] + skipping)
        #expect(copied.code == 3, "\(copied)")
        #expect(copied.output.contains("verified: all 3 digests are equal, without the rows that were left out"), "\(copied)")
        #expect(copied.output.contains("note: 1 references of product.maker are nil in the copy"), "\(copied)")
        #expect(copied.error.contains("rejected: product 5: product.line is required, and the object 2 of line is left out"), "\(copied)")
        #expect(copied.error.contains("5 rows were left out (1 of line, 1 of maker, 3 of product)"), "\(copied)")
        let rejects = try lines("rejects.ndjson")
        #expect(rejects.count == 5)
        #expect(
            rejects[3].hasPrefix(#"{"polystore_entity":"product","polystore_key":3,"title":"z","price":{"polystore_unreadable":true},"#),
            "\(rejects)")
        let found = try program.run(["query", target, "product", "--format", "ndjson", "--select", "title, maker.name AS m"])
        #expect(found.output == "{\"title\":\"x\",\"m\":\"a\"}\n{\"title\":\"v\",\"m\":null}\n{\"title\":\"u\",\"m\":null}\n", "\(found)")
        // Uncorrected records are refused, and corrected ones get their keys and references.
        #expect(try program.run(["load", target, path("rejects.ndjson")]).code == 2)
        var mended = rejects.joined(separator: "\n")
        for (entity, key, value) in [("line", 2, "square"), ("maker", 2, "b"), ("product", 2, "y")] {
            mended = mended.replacing(
                "\"polystore_entity\":\"\(entity)\",\"polystore_key\":\(key),\"\(entity == "maker" ? "name" : "title")\":{\"polystore_unreadable\":true}",
                with:
                    "\"polystore_entity\":\"\(entity)\",\"polystore_key\":\(key),\"\(entity == "maker" ? "name" : "title")\":\"\(value)\"")
        }
        // Product 3 is not corrected, so it is left again.
        let rest = try program.run([
            "load", target, try program.file("mended.ndjson", mended), "--rejects", path("rest.ndjson"),
        ])
        #expect(rest.code == 3 && rest.output.contains("loaded 2 objects of product"), "\(rest)")
        #expect(try lines("rest.ndjson").count == 1)
        #expect(
            try program.run(["query", target, "product", "--where", "title == 'w' AND line.title == 'square'", "--count"]).output == "1\n")
        #expect(try program.run(["check", target]).code == 0)
        #expect(try program.run(["erase", target, "--yes"]).code == 0)
    }

    @Test(arguments: TransferCommandTests.kinds) func aKilledTransferLeavesEachRowInOnePlace(_ kind: String) throws {
        // Every five-thousandth note cannot be copied, and the note after it needs it.
        try program.sqlite3(
            "notes.db",
            """
            CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT NOT NULL, before INTEGER REFERENCES note(id));
            WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 40000)
            INSERT INTO note SELECT i, CASE WHEN i % 5000 = 0 THEN 'a' || char(0) ELSE 'n' || i END,
              CASE WHEN i % 5000 = 1 AND i > 1 THEN i - 1 END FROM n;
            """)
        let target = program.target(kind)
        let command = [
            "transfer", "sqlite:\(path("notes.db"))?catalog=foreign", target, "--on-error", "skip", "--rejects", path("rejects.ndjson"),
        ]
        for milliseconds in [100, 300, 600, 900, 1200, 1500] {
            try Program.runUntilKilled(command + ["-q"], after: milliseconds)
        }
        let finished = try program.run(command + ["--json"])
        #expect(finished.code == 3 && finished.output.contains(#""rejected":{"note":8}"#), "\(finished)")
        #expect(finished.output.contains(#""count":39992"#) && finished.output.contains(#""removedReferences":{"note.before":7}"#))
        let keys = try lines("rejects.ndjson").compactMap { $0.firstMatch(of: /"polystore_key":(\d+)/).map { String($0.1) } }
        #expect(keys == (1...8).map { "\($0 * 5000)" })
        #expect(try program.run(["query", target, "note", "--count"]).output == "39992\n")
        #expect(try program.run(["query", target, "note", "--where", "text == 'n4999' OR text == 'n5001'", "--count"]).output == "2\n")
        let sound = try program.run(["check", target])
        #expect(sound.code == 0, "\(sound)")
        // The rejects that were complete before are the same again.
        try FileManager.default.removeItem(atPath: path("rejects.ndjson"))
        let again = try program.run(command)
        #expect(again.code == 3 && again.output.contains("nothing was copied"), "\(again)")
        #expect(try lines("rejects.ndjson").count == 8)
        let left = try FileManager.default.contentsOfDirectory(atPath: program.folder.path).filter {
            $0.contains("partial") && !$0.hasPrefix("rejects.ndjson.")
        }
        #expect(left.isEmpty)
        #expect(try program.run(["erase", target, "--yes"]).code == 0)
    }

    @Test func whatATriggerOfADatabaseInPlaceRejectsIsLeftOut() throws {
        let tables = """
            CREATE TABLE maker(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
            CREATE TABLE product(id INTEGER PRIMARY KEY, title TEXT, price INTEGER, maker_id INTEGER NOT NULL REFERENCES maker(id));
            """
        try program.sqlite3(
            "from.db",
            "\(tables) INSERT INTO maker VALUES(1, 'a'), (2, 'b'); INSERT INTO product VALUES(1, 'x', 3, 1), (2, 'y', -4, 1), (3, 'z', 5, 2)"
        )
        try program.sqlite3(
            "to.db",
            """
            \(tables)
            CREATE TRIGGER c BEFORE INSERT ON maker WHEN new.name = 'b' BEGIN SELECT raise(ABORT, 'no b'); END;
            CREATE TRIGGER d BEFORE INSERT ON product WHEN new.price < 0 BEGIN SELECT raise(ABORT, 'negative'); END;
            """)
        let copied = try program.run([
            "transfer", "sqlite:\(path("from.db"))?catalog=foreign", "sqlite:\(path("to.db"))?catalog=inplace", "--on-error", "skip",
            "--rejects", path("rejects.ndjson"), "--json",
        ])
        #expect(copied.code == 3 && copied.output.contains(#""rejected":{"maker":1,"product":2}"#), "\(copied)")
        #expect(try program.sqlite3("to.db", "SELECT id, title, maker_id FROM product") == "1|x|1\n")
        #expect(try program.sqlite3("to.db", "SELECT id FROM maker") == "1\n")
    }

    @Test func aThrottleFileMakesTheTransferWait() throws {
        let target = "sqlite:\(path("copy.db"))", flag = try program.file("wait", "")
        let command = [
            "transfer", source, target, "--on-error", "skip", "--rejects", path("rejects.ndjson"), "--throttle-file", flag,
            "--rate", "1000", "--rate", "1MB", "--memory", "16MiB",
        ]
        let process = Program.process(command), error = Pipe()
        process.standardOutput = FileHandle.nullDevice
        process.standardError = error
        try process.run()
        var text = ""
        while !text.contains("waiting while the throttle file exists") {
            let data = error.fileHandleForReading.availableData
            if data.isEmpty { break }
            text += String(decoding: data, as: UTF8.self)
        }
        #expect(text.contains("waiting while the throttle file exists"), "\(text)")
        Thread.sleep(forTimeInterval: 0.3)
        #expect(process.isRunning)
        #expect(!FileManager.default.fileExists(atPath: path("copy.db")))
        kill(process.processIdentifier, SIGINT)
        process.waitUntilExit()
        #expect(process.terminationStatus == 130)
        try FileManager.default.removeItem(atPath: flag)
        #expect(try program.run(command).code == 3)
        #expect(try program.run(["query", target, "product", "--count"]).output == "3\n")
    }

    @Test func optionsThatDoNotFitAreRefused() throws {
        let target = "sqlite:\(path("copy.db"))", rejects = ["--on-error", "skip", "--rejects"]
        let wrong: [[String]] = [
            ["--on-error", "skip"], ["--rejects", "a"], ["--max-errors", "3"], rejects + ["a", "--max-errors", "0"], ["--on-error", "ask"],
            ["--rate", "0"], ["--rate", "fast"], ["--rate", "1MB", "--rate", "2MB"], ["--rate", "-5MB"], ["--memory", "5"],
            ["--memory", "1KB"], ["--memory", "1e300GB"], ["--live", "--rate", "5"], ["--layout", "plain"] + rejects + ["a"],
        ]
        for options in wrong {
            let found = try program.run(["transfer", source, target] + options)
            #expect(found.code == 64, "\(options): \(found)")
        }
        let own = try program.file("own.ndjson", "{\"name\":\"ann\"}\n")
        for path in [path("shop.db"), path("copy.db"), path("copy.db-wal"), path("rows.csv"), path("missing/rows.ndjson"), own] {
            let found = try program.run(["transfer", source, target] + rejects + [path])
            #expect(found.code == 2 || found.code == 5, "\(path): \(found)")
        }
        #expect(!FileManager.default.fileExists(atPath: path("copy.db")))
        #expect(try lines("own.ndjson") == [#"{"name":"ann"}"#])
        // A file of an earlier run is made empty, and without anything that is left out no new one is made.
        try program.sqlite3(
            "shop.db", "DELETE FROM product WHERE id BETWEEN 2 AND 5; DELETE FROM line WHERE id = 2; DELETE FROM maker WHERE id = 2")
        #expect(try program.run(["transfer", source, target] + rejects + [path("none.ndjson")]).code == 0)
        #expect(!FileManager.default.fileExists(atPath: path("none.ndjson")))
        for name in ["old.ndjson", "old.ndjson.gz"] {
            let old = try program.file(name, "{\"polystore_key\":1}\n")
            for _ in 1...2 {
                #expect(try program.run(["transfer", source, target] + rejects + [old]).code == 0)
                #expect(try Data(contentsOf: URL(fileURLWithPath: old)).count == (name.hasSuffix("gz") ? 20 : 0))
            }
        }
        let old = try program.file("old.ndjson", "{\"polystore_key\":1}\n"), other = "sqlite:\(path("other.db"))"
        #expect(try program.run(["transfer", source, other] + rejects + [old]).code == 0)
        #expect(try lines("old.ndjson").isEmpty)
    }

    @Test(.enabled(if: TransferCommandTests.kinds.contains("postgresql"))) func aRepeatedTransferSaysTheSameOfRowsThatTheServerRefused()
        throws
    {
        try program.sqlite3(
            "docs.db",
            """
            CREATE TABLE doc(id INTEGER PRIMARY KEY, text TEXT UNIQUE);
            WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 50)
            INSERT INTO doc SELECT i, CASE i WHEN 20 THEN hex(randomblob(20000)) ELSE 't' || i END FROM n;
            """)
        let target = program.target("postgresql")
        let command = [
            "transfer", "sqlite:\(path("docs.db"))?catalog=foreign", target, "--on-error", "skip", "--rejects", path("rejects.ndjson"),
        ]
        let first = try program.run(command)
        #expect(first.code == 3 && first.error.contains("rejected: doc 20: a value is too large for an index"), "\(first)")
        let rejects = try lines("rejects.ndjson")
        #expect(rejects.count == 1)
        try FileManager.default.removeItem(atPath: path("rejects.ndjson"))
        let again = try program.run(command)
        #expect(again.code == 3 && again.output.contains("nothing was copied"), "\(again)")
        #expect(again.error.contains("rejected: doc 20: a value is too large for an index"), "\(again)")
        #expect(try lines("rejects.ndjson") == rejects)
        #expect(try program.run(["query", target, "doc", "--count"]).output == "49\n")
        #expect(try program.run(["erase", target, "--yes"]).code == 0)
    }
}
