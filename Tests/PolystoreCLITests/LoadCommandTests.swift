import Foundation
import Testing

/// What `polystore load` makes, and what it leaves when it fails or is interrupted.
@Suite(.timeLimit(.minutes(15))) struct LoadCommandTests {
    private let program: Program
    private let model: String

    init() throws {
        program = try Program()
        model = try program.file(
            "model.json",
            """
            {"entities": [{"name": "Note", "attributes": [{"name": "text", "type": "string"}], \
            "relationships": [{"name": "of", "to": "Note"}], "unique": [["text"]]}]}
            """)
    }

    private func path(_ name: String) -> String { program.folder.appendingPathComponent(name).path }

    private func load(_ store: String, _ file: String, _ options: String...) throws -> (code: Int32, output: String, error: String) {
        try program.run(["load", store, file, "--entity", "Note", "--model", model] + options)
    }

    /// The names of the files that are not the model or data.
    private func made() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: program.folder.path).filter { $0 != "model.json" && !$0.hasSuffix("csv") }
            .sorted()
    }

    @Test(arguments: ["sqlite", "lmdb"]) func aLoadThatFailsLeavesNoFile(_ kind: String) throws {
        let bad = try program.file("bad.csv", "text\na\nb\na\n")
        let result = try load("\(kind):\(path("a.db"))", bad)
        #expect(result.code == 2 && result.error.contains("bad.csv, line 4: an earlier object in the files has the same text (\"a\")"))
        #expect(try made() == [])
        #expect(try load("\(kind):\(path("a.db"))", program.file("good.csv", "text\na\nb\n")).code == 0)
        #expect(try load("\(kind):\(path("a.db"))", program.file("more.csv", "text\nc\na\n")).code == 2)
        #expect(try program.run(["query", "\(kind):\(path("a.db"))", "Note", "--count"]).output == "2\n")
        #expect(try !made().contains { $0.contains("partial") })
    }

    @Test func aStoreInMemoryIsNoFileOfThatName() throws {
        let good = try program.file("good.csv", "text\na\n")
        let result = try load("sqlite::memory:", good)
        #expect(result.code == 2 && result.error.contains("a SQLite store is a file"), "\(result)")
        #expect(try load("sqlite:\(path("a.db"))", good).code == 0)
        let moved = try program.run(["transfer", "sqlite:\(path("a.db"))", "sqlite::memory:"])
        #expect(moved.code == 2 && moved.error.contains("a SQLite store is a file"), "\(moved)")
        #expect(!FileManager.default.fileExists(atPath: ":memory:"))
    }

    /// A file that was empty is empty again, and a folder that was there stays.
    @Test(arguments: ["sqlite", "lmdb"]) func aLoadThatFailsLeavesWhatWasThere(_ kind: String) throws {
        let bad = try program.file("bad.csv", "text\na\nb\na\n"), empty = try program.file("empty.db", "")
        #expect(try load("\(kind):\(empty)", bad).code == 2)
        #expect(try made() == ["empty.db"])
        #expect(try Data(contentsOf: URL(fileURLWithPath: empty)).isEmpty)
        #expect(try load("\(kind):\(empty)", program.file("good.csv", "text\na\nb\n")).code == 0)
        if kind == "sqlite" { return }
        try FileManager.default.createDirectory(atPath: path("folder"), withIntermediateDirectories: false)
        #expect(try load("lmdb:\(path("folder"))?subdir=1", bad).code == 2)
        #expect(try FileManager.default.contentsOfDirectory(atPath: path("folder")) == [])
    }

    @Test func unresolvedReferencesAreReported() throws {
        _ = try program.file("notes.csv", "text,parent\na,b\nb,\nc,x\n")
        let mapping = try program.file(
            "load.json", #"{"files": [{"file": "notes.csv", "entity": "Note", "relationships": {"of": {"text": "parent"}}}]}"#)
        let store = "sqlite:\(path("a.db"))"
        let result = try program.run(["load", store, "--mapping", mapping, "--model", model])
        #expect(result.code == 3 && result.output.contains("Note.of: 1 unresolved (1 distinct), 1 nil"), "\(result)")
        #expect(try program.run(["query", store, "Note", "--where", "of.text == 'b'", "--count"]).output == "1\n")
        let strict = try program.run(["load", "sqlite:\(path("b.db"))", "--mapping", mapping, "--model", model, "--strict"])
        #expect(strict.code == 2 && strict.error.contains("1 references of Note.of refer to missing objects"))
    }

    @Test func recordsUpdateTheObjectsThatTheyIdentify() throws {
        let store = "sqlite:\(path("a.db"))", items = try program.file("items.csv", "code,name,price\n1,tea,9.90\n2,coffee,12\n")
        #expect(try program.run(["load", store, items, "--infer", "--entity", "Item", "-q"]).code == 0)
        let prices = try program.file("prices.csv", "code,price\n2,12\n1,9.50\n")
        let result = try program.run(["load", store, prices, "--entity", "Item", "--on", "code"])
        #expect(result.code == 0 && result.output == "loaded 0 objects of Item, updated 1, 1 unchanged\n", "\(result)")
        let query = ["query", store, "Item", "--select", "name, price", "--order-by", "code", "--format", "csv"]
        #expect(try program.run(query).output == "name,price\ntea,9.5\ncoffee,12.0\n")
        let wrong = try program.run(["load", store, prices, "--entity", "Item", "--on", "cod"])
        #expect(wrong.code == 2 && wrong.error.contains("Item has no attribute \"cod\"; did you mean \"code\"?"), "\(wrong)")
        #expect(try program.run(["load", store, "--mapping", "x.json", "--on", "code"]).code == 64)
    }

    @Test func aTextMeansNilWhereItIsNamed() throws {
        let file = try program.file("notes.csv", "text\nNA\n")
        #expect(try load("sqlite:\(path("a.db"))", file).code == 0)
        #expect(try program.run(["dump", "sqlite:\(path("a.db"))"]).output.contains("\"text\":\"NA\""))
        let refused = try load("sqlite:\(path("b.db"))", file, "--nil", "NA")
        #expect(refused.error.contains("the attribute is required, but the column is nil"))
    }

    /// Starts a load that takes a while, and waits until it has begun.
    private func started(_ store: String, rows: Int = 400_000) throws -> Process {
        let file = try program.file("long.csv", "text\n" + (0..<rows).map { "row \($0)" }.joined(separator: "\n") + "\n")
        let process = Program.process(["load", store, file, "--entity", "Note", "--model", model, "--quiet"])
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        while process.isRunning, try !made().contains(where: { $0.contains("partial") }) { usleep(2_000) }
        return process
    }

    @Test(arguments: [(SIGINT, Int32(130)), (SIGTERM, Int32(143))]) func aLoadThatIsInterruptedLeavesNoFile(_ signal: Int32, _ code: Int32)
        throws
    {
        let process = try started("sqlite:\(path("a.db"))")
        kill(process.processIdentifier, signal)
        process.waitUntilExit()
        #expect(process.terminationReason == .exit && process.terminationStatus == code, "\(process.terminationStatus)")
        #expect(try made() == [])
    }

    @Test(arguments: ["sqlite", "lmdb"]) func aStoreThatAnotherProgramMakesMeanwhileStays(_ kind: String) throws {
        let store = "\(kind):\(path("a.db"))"
        let slow = try started(store)
        // However busy the machine is, it does not end before the other one.
        kill(slow.processIdentifier, SIGSTOP)
        #expect(slow.isRunning)
        #expect(try load(store, program.file("short.csv", "text\nx\n")).code == 0)
        kill(slow.processIdentifier, SIGCONT)
        slow.waitUntilExit()
        #expect(slow.terminationStatus == 5)
        #expect(try program.run(["query", store, "Note", "--count"]).output == "1\n")
        #expect(try !made().contains { $0.contains("partial") })
    }

    /// The engine would apply a log to the next database at the path.
    @Test(arguments: ["-wal", "-journal"]) func aLogOfAFormerDatabaseIsNotTakenOver(_ suffix: String) throws {
        let good = try program.file("good.csv", "text\na\n"), from = "sqlite:\(path("from.db"))", store = "sqlite:\(path("a.db"))"
        #expect(try load(from, good).code == 0)
        #expect(try program.run(["dump", from, "--output", path("from.archive")]).code == 0)
        let log = try program.file("a.db\(suffix)", "pages of another database")
        for arguments in [
            ["load", store, good, "--entity", "Note", "--model", model], ["transfer", from, store],
            ["restore", path("from.archive"), store], ["backup", from, path("a.db")],
        ] {
            let refused = try program.run(arguments)
            #expect(refused.code != 0 && refused.error.contains("a.db\(suffix) is the log of a database"), "\(refused)")
            #expect(try made().filter { $0.hasPrefix("a.db") } == ["a.db\(suffix)"], "\(arguments[0])")
        }
        try FileManager.default.removeItem(atPath: log)
        #expect(try load(store, good).code == 0)
        #expect(try program.run(["query", store, "Note", "--count"]).output == "1\n")
    }

    /// The names in the folder of rejected records are different, whatever the files are called.
    @Test func rejectedRecordsOfFilesWithOneNameAreApart() throws {
        let model = try program.file("m.json", #"{"entities": [{"name": "A", "attributes": [{"name": "n", "type": "int64"}]}]}"#)
        for folder in ["map", "map/3"] { try FileManager.default.createDirectory(atPath: path(folder), withIntermediateDirectories: true) }
        for (index, name) in ["map/3/a.csv", "map/a.csv", "a.csv"].enumerated() {
            _ = try program.file(name, "n\nbad\(index + 1)\n\(index + 1)\n")
        }
        let mapping = try program.file(
            "map/load.json",
            #"{"files": [{"file": "3/a.csv", "entity": "A"}, {"file": "a.csv", "entity": "A"}, {"file": "../a.csv", "entity": "A"}]}"#)
        let store = "sqlite:\(path("g.db"))"
        let loaded = try program.run(["load", store, "--mapping", mapping, "--model", model, "--rejects", path("rej")])
        #expect(loaded.code == 3 && loaded.error.contains("3 records were rejected"), "\(loaded)")
        var found: [String] = []
        for file in try FileManager.default.subpathsOfDirectory(atPath: path("rej")) where file.hasSuffix(".csv") {
            let text = try String(contentsOfFile: path("rej/\(file)"), encoding: .utf8)
            found += text.split(separator: "\n").dropFirst().map { String($0.prefix(4)) }
            try Data(text.replacing("bad", with: "10").utf8).write(to: URL(fileURLWithPath: path("rej/\(file)")))
        }
        #expect(found.sorted() == ["bad1", "bad2", "bad3"])
        #expect(try program.run(["load", store, "--mapping", path("rej/load.json")]).code == 0)
        let numbers = try program.run(["query", store, "A", "--select", "n", "--order-by", "n", "--format", "csv"])
        #expect(numbers.output == "n\n1\n2\n3\n101\n102\n103\n", "\(numbers)")
    }

    @Test func rejectedRecordsAreInAFile() throws {
        let store = "sqlite:\(path("r.db"))", rejects = path("rejects.csv")
        let file = try program.file("mixed.csv", "text\na\n\"b\",x\na\nc\n")
        let loaded = try load(store, file, "--rejects", rejects)
        #expect(loaded.code == 3 && loaded.output == "loaded 2 objects of Note\n", "\(loaded)")
        #expect(loaded.error.contains("rejected: mixed.csv, line 3: expected 1 field, but found 2\n"))
        #expect(loaded.error.hasSuffix("polystore: 2 records were rejected; they are in \(rejects)\n"))
        let text = try String(contentsOfFile: rejects, encoding: .utf8)
        #expect(
            text == """
                text,polystore_reason
                "b",x,"mixed.csv, line 3: expected 1 field, but found 2"
                a,"mixed.csv, line 4: an earlier object in the files has the same text (""a"")"

                """)
        #expect(try program.run(["query", store, "Note", "--count"]).output == "2\n")
        // Nothing is written without rejected records, nor with too many of them.
        #expect(try load("sqlite:\(path("s.db"))", file, "--rejects", path("few.csv"), "--max-rejects", "1").code == 2)
        #expect(try load("sqlite:\(path("t.db"))", program.file("good.csv", "text\na\n"), "--rejects", path("none.csv")).code == 0)
        #expect(try made().filter { !$0.hasPrefix("r.db") } == ["t.db"])
        #expect(!FileManager.default.fileExists(atPath: path("none.csv")))
        // The file of an earlier load becomes empty.
        let old = try program.file("old.csv", "text,polystore_reason\na,b\n")
        #expect(try load("sqlite:\(path("u.db"))", program.file("good.csv", "text\na\n"), "--rejects", old).code == 0)
        #expect(try String(contentsOfFile: old, encoding: .utf8).isEmpty)
        for wrong in [["--max-rejects", "1"], ["--rejects", path("x.csv"), "--max-rejects", "0"]] {
            #expect(try program.run(["load", store, file, "--entity", "Note"] + wrong).code == 64)
        }
        let same = try load(store, file, "--rejects", file)
        #expect(same.code == 2 && same.error.contains("is the input file"), "\(same)")
    }

    @Test func rejectedRecordsOfAMappingAreInAFolderThatIsAMapping() throws {
        let store = "lmdb:\(path("m.lmdb"))", folder = path("left.csv")
        _ = try program.file("one.csv", "text,of\na,b\nb,c\n")
        _ = try program.file("two.csv", "text\nc\nc\n")
        let mapping = try program.file(
            "map.csv",
            #"{"files": [{"file": "one.csv", "entity": "Note", "relationships": {"of": {"text": "of"}}}, {"file": "two.csv", "entity": "Note"}]}"#
        )
        let loaded = try program.run(["load", store, "--mapping", mapping, "--model", model, "--rejects", folder])
        #expect(loaded.code == 3, "\(loaded)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == ["load.json", "two.csv"])
        let text = try String(contentsOfFile: folder + "/two.csv", encoding: .utf8)
        try Data(text.replacingOccurrences(of: "c,", with: "d,").utf8).write(to: URL(fileURLWithPath: folder + "/two.csv"))
        let again = try program.run(["load", store, "--mapping", folder + "/load.json"])
        #expect(again.code == 0 && again.output == "loaded 1 objects of Note\n", "\(again)")
        #expect(try program.run(["load", store, "--mapping", mapping, "--rejects", folder]).code == 5)
    }

    @Test func rejectsThatCannotBeWrittenLeaveTheStoreAsItWas() throws {
        let store = "sqlite:\(path("w.db"))"
        #expect(try load(store, program.file("good.csv", "text\na\n"), "-q").code == 0)
        let file = try program.file("mixed.csv", "text\na\nb\n")
        let full = try load(store, file, "--rejects", "/dev/full")
        #expect(full.code == 2 && full.error.contains("no space is left"), "\(full)")
        let form = try load(store, file, "--rejects", path("r.ndjson"))
        #expect(form.code == 2 && form.error.contains("end the name with .csv"), "\(form)")
        #expect(try program.run(["query", store, "Note", "--count"]).output == "1\n")
    }

    @Test func rejectsOfFilesWithOneNameAreKeptApart() throws {
        let store = "sqlite:\(path("n.db"))", folder = path("rejects.csv")
        _ = try program.file("one.csv", "text\na\na\n")
        let mapping = try program.file(
            "names.csv", #"{"files": [{"file": "one.csv", "entity": "Note"}, {"file": "./one.csv", "entity": "Note"}]}"#)
        #expect(try program.run(["load", store, "--mapping", mapping, "--model", model, "--rejects", folder, "-q"]).code == 3)
        let texts = try ["one.csv", "2/one.csv"].map { try String(contentsOfFile: "\(folder)/\($0)", encoding: .utf8) }
        #expect(texts.map { $0.split(separator: "\n").count } == [2, 3])
        let again = try program.run(["load", store, "--mapping", folder + "/load.json", "--rejects", path("more.csv"), "-q"])
        #expect(again.code == 3, "\(again)")
    }
}
