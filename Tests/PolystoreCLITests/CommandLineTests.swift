import Foundation
import Testing

/// Loading, moving, comparing and asking on the command line.
@Suite struct CommandLineTests {
    private let program: Program
    private var folder: URL { program.folder }

    init() throws { program = try Program() }

    private func run(_ arguments: String...) throws -> (code: Int32, output: String, error: String) { try program.run(arguments) }

    private func file(_ name: String, _ text: String) throws -> String { try program.file(name, text) }

    private func notes(_ name: String) throws -> String {
        let model = try file(
            "model.json", "{\"entities\": [{\"name\": \"Note\", \"attributes\": [{\"name\": \"text\", \"type\": \"string\"}]}]}")
        let store = "sqlite:\(folder.path)/\(name)"
        #expect(try run("load", store, file("notes.csv", "text\na\nb\n"), "--entity", "Note", "--model", model).code == 0)
        return store
    }

    @Test func verifySaysWhichEntityDiffers() throws {
        let store = try notes("a.db"), copy = "lmdb:\(folder.path)/b.lmdb", back = "sqlite:\(folder.path)/c.db"
        #expect(try run("transfer", store, copy).code == 0)
        #expect(try run("transfer", copy, back).code == 0)
        #expect(try run("verify", store, back).code == 0)
        try program.sqlite3("c.db", "UPDATE Note SET text = 'x' WHERE _id = 1")
        let result = try run("verify", store, back)
        #expect(result.code == 1)
        #expect(result.output.contains("the stores differ in Note"))
    }

    @Test func aTargetThatHoldsRowsIsRefused() throws {
        let store = try notes("d.db"), other = try notes("e.db")
        #expect(try run("transfer", store, other).code == 5)
    }

    @Test func badInputIsTroubleInOneSentence() throws {
        let noStore = try file("text.db", "this is no database, and it is long enough to be read as one page")
        let model = try file("bad.json", "{\n\"entities\": [\n{\"name\": \"A\", \"colour\": 1}]}")
        #expect(try run("info", "sqlte:x").code == 2)
        #expect(try run("info", "sqlte:x").error.contains("did you mean \"sqlite\"?"))
        #expect(try run("info", "sqlite:\(folder.path)/missing.db").code == 2)
        #expect(try run("info", "sqlite:\(noStore)").code == 2)
        #expect(try run("info", "lmdb:\(noStore)").code == 2)
        #expect(try run("model", "show", model).error.contains("line 3"))
        #expect(try run("query").code == 64)
    }

    @Test func aWrongPatternInAModelIsNamed() throws {
        let model = try file(
            "wrong.json",
            #"{"entities": [{"name": "Note", "attributes": [{"name": "text", "type": "string", "pattern": "(a"}]}]}"#)
        let result = try run("model", "generate", model)
        #expect(result.code == 2)
        #expect(result.error.contains("Note.text") && result.error.contains("pattern"))
        #expect(result.output.isEmpty)
    }

    @Test func aModelOfXcodeBecomesAModelFile() throws {
        let version = folder.appendingPathComponent("Shop.xcdatamodeld/Shop.xcdatamodel")
        try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
        func write(_ pattern: String) throws {
            let xml = """
                <model><entity name="Note">
                <attribute name="text" attributeType="String" regularExpressionString="\(pattern)"/>
                <attribute name="seen" transient="YES" attributeType="Boolean"/>
                </entity></model>
                """
            try xml.write(to: version.appendingPathComponent("contents"), atomically: true, encoding: .utf8)
        }
        let model = "\(folder.path)/Shop.xcdatamodeld", output = "\(folder.path)/shop.json"
        try write("a+")
        let result = try run("model", "import", model, "-o", output)
        #expect(result.code == 0 && result.output.isEmpty)
        #expect(result.error == "omitted: transient attribute Note.seen\n")
        #expect(try run("model", "show", output).output.contains("\"pattern\": \"a+\""))
        #expect(try run("model", "import", model, "--version", "Shop").output == String(contentsOfFile: output, encoding: .utf8))
        #expect(try run("model", "import", model, "--version", "Shop 2").code == 2)
        try write("(a")
        let wrong = try run("model", "import", model)
        #expect(wrong.code == 2 && wrong.output.isEmpty && wrong.error.contains("Note.text"))
    }

    @Test func queryAnswers() throws {
        let store = try notes("f.db")
        #expect(
            try run("query", store, "Note", "--where", "text == 'b'").output
                == "{\"entity\":\"Note\",\"key\":2,\"version\":1,\"text\":\"b\"}\n")
        #expect(try run("query", store, "Note", "--count").output == "2\n")
        #expect(try run("query", store, "Note", "--where", "txt == 'b'").code == 2)
    }

    @Test func anOrderBeginsWithAMinusSign() throws {
        let store = try notes("g.db")
        #expect(try run("explain", store, "Note", "--order-by", "-text").output.contains("order by text descending: in the store"))
        let order = try run("query", store, "Note", "--order-by", "-text")
        #expect(order.output.split(separator: "\n").map { $0.suffix(4) } == [#""b"}"#, #""a"}"#], "\(order)")
        #expect(try run("query", store, "Note", "--order-by", "text, -text").code == 0)
        #expect(try run("query", store, "Note", "--order-by", "--text").code == 2)
    }

    @Test func optionsThatAQueryCannotCombineAreRefused() throws {
        let store = try notes("h.db")
        for wrong in [["--count", "--select", "text"], ["--count", "--limit", "1"], ["--minimum", "text", "--order-by", "text"]] {
            #expect(try program.run(["query", store, "Note"] + wrong).code == 64, "\(wrong)")
        }
    }

    @Test func anErrorNamesTheStoreAsItWasGiven() throws {
        #expect(try run("info", "sqlite:\(folder.path)/x/a.db").error.hasPrefix("polystore: sqlite:\(folder.path)/x/a.db: "))
        let one = try notes("i.db")
        #expect(try run("verify", one, "sqlite:missing.db").error.hasPrefix("polystore: sqlite:missing.db: there is no SQLite database"))
        for url in ["sqlite::memory:", "sqlite:~/a.db", "lmdb:~/a.lmdb"] {
            let result = try run("info", url)
            let isNamed = result.error.contains("a SQLite store is a file") || result.error.contains("expanded by a shell")
            #expect(result.code == 2 && isNamed, "\(result)")
        }
    }

    /// Other programs read a URL with three slashes as a relative path.
    @Test func anErrorOfAnAbsolutePathNamesTheRelativeOne() throws {
        let name = "polystore-\(UUID().uuidString).db"
        for scheme in ["sqlite", "lmdb"] {
            let error = try run("info", "\(scheme):///\(name)").error
            let hint = "; the path of this URL is /\(name), write \(scheme):\(name) for a file in the current folder\n"
            #expect(error.hasSuffix(hint), "\(error)")
            #expect(try !run("info", "\(scheme):////\(name)").error.contains("current folder"))
            #expect(try !run("info", "\(scheme)://\(folder.path)/\(name)").error.contains("current folder"))
        }
    }

    @Test func aReaderThatEndsIsTroubleInOneSentence() throws {
        let store = try notes("j.db"), process = Program.process(["dump", store]), output = Pipe(), error = Pipe()
        process.standardOutput = output
        process.standardError = error
        try output.fileHandleForReading.close()
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationReason == .exit && process.terminationStatus == 2)
        let text = String(decoding: error.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        #expect(text.hasPrefix("polystore: the output cannot be written"))
    }

    @Test func aDatabaseOfAnotherProgramIsShownMovedAndCompared() throws {
        try program.sqlite3(
            "foreign.db",
            "CREATE TABLE pet(id INTEGER PRIMARY KEY, name TEXT, owner_id INTEGER REFERENCES owner(id)); CREATE TABLE owner(id INTEGER "
                + "PRIMARY KEY); CREATE VIEW v AS SELECT 1; INSERT INTO owner VALUES(7); INSERT INTO pet VALUES(1, 'Rex', 7);")
        let store = "sqlite:\(folder.path)/foreign.db?catalog=foreign", copy = "lmdb:\(folder.path)/foreign.lmdb"
        #expect(try run("info", "sqlite:\(folder.path)/foreign.db").error.contains("catalog=foreign"))
        #expect(try run("info", store).output.contains("note: the view v is left out: only tables are read"))
        #expect(try run("info", store, "--json").output.contains("\"remarks\":[\"the view v is left out: only tables are read\"]"))
        #expect(try run("model", "generate", store).error == "note: the view v is left out: only tables are read\n")
        #expect(try run("model", "show", store).error == "note: the view v is left out: only tables are read\n")
        let moved = try run("transfer", store, copy)
        #expect(moved.code == 0 && moved.error.contains("note: the view v is left out"))
        #expect(moved.output.contains("copied 2 rows"))
        #expect(try run("verify", store, copy).code == 0)
        let pet = "{\"entity\":\"pet\",\"key\":1,\"version\":1,\"name\":\"Rex\",\"owner\":7}\n"
        #expect(try run("query", store, "pet", "--where", "owner == 7").output == pet)
        let rows = try run("dump", copy).output.split(separator: "\n").filter { $0.hasPrefix("{\"entity\"") }
        #expect(rows.joined(separator: "\n") + "\n" == "{\"entity\":\"owner\",\"key\":7,\"version\":1}\n" + pet)
        #expect(try run("transfer", copy, store).code == 2)
        #expect(try run("query", store, "pet").error == "")
    }

    @Test func aTransferLeavesNothingOutUnlessThatIsAccepted() throws {
        try program.sqlite3(
            "orphans.db",
            "CREATE TABLE c(id INTEGER PRIMARY KEY, email TEXT UNIQUE); CREATE TABLE o(id INTEGER PRIMARY KEY, email TEXT REFERENCES "
                + "c(email)); INSERT INTO c VALUES(1, 'a@x'); INSERT INTO o VALUES(1, 'a@x'), (2, 'lost@x'); "
                + "CREATE TABLE t(id INTEGER PRIMARY KEY, v); INSERT INTO t VALUES(1, 1), (2, 'a')")
        let store = "sqlite:\(folder.path)/orphans.db?catalog=foreign", copy = "sqlite:\(folder.path)/copy.db"
        let refused = try run("transfer", store, copy, "--quiet")
        #expect(refused.code == 5 && refused.error.contains("--accept-loss 't.v' --accept-loss 'o.email'"), "\(refused)")
        #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/copy.db"))
        #expect(try run("query", store, "o", "--count").error == "note: \(store): data of o.email is left out; polystore info shows why\n")
        #expect(try run("query", store, "c", "--count").error == "")
        #expect(try run("verify", store, store).error.contains("data of t.v is left out"))
        #expect(try run("transfer", store, copy, "--quiet", "--accept-loss", "o.email").code == 5)
        #expect(try run("transfer", store, copy, "--quiet", "--accept-loss", "o.email", "--accept-loss", "t.v").code == 0)
        #expect(try run("query", copy, "o", "--where", "email.email == 'a@x'", "--count").output == "1\n")
    }

    @Test func aTransferSaysThatItLeavesTheHistory() throws {
        let store = try notes("k.db")
        #expect(try run("transfer", store, "sqlite:\(folder.path)/l.db").error == "")
        try program.sqlite3("k.db", "INSERT INTO polystore_history VALUES(1, 1, '', x'00')")
        #expect(try run("transfer", store, "sqlite:\(folder.path)/m.db").error.contains("note: the history of the source is not copied"))
    }

    @Test func aDatabaseOfAnotherProgramIsWrittenInPlace() throws {
        try program.sqlite3("place.db", "CREATE TABLE pet(id INTEGER PRIMARY KEY, name TEXT)")
        let store = "sqlite:\(folder.path)/place.db?catalog=inplace", rows = "\(folder.path)/pets.csv"
        try Data("name\nRex\nTom\n".utf8).write(to: URL(fileURLWithPath: rows))
        #expect(try run("load", store, rows, "--entity", "pet").code == 0)
        #expect(try run("query", store, "pet", "--count").output == "2\n")
        #expect(
            try run("query", "sqlite:\(folder.path)/place.db?catalog=foreign", "pet", "--where", "name == 'Tom'", "--count").output == "1\n"
        )
        let model = "\(folder.path)/pet.json"
        try Data(#"{"version": "2", "entities": [{"name": "pet", "attributes": []}]}"#.utf8).write(to: URL(fileURLWithPath: model))
        let refused = try run("schema", "apply", store, "--model", model, "--yes", "--accept-loss", "pet.name")
        #expect(refused.code != 0 && refused.error.contains("owns them"))
        try program.sqlite3("place.db", "DROP TABLE pet; CREATE TABLE pet(name TEXT)")
        let unfit = try run("info", store)
        #expect(unfit.code == 2 && unfit.error.contains("pet") && unfit.error.contains("catalog=foreign"))
    }
}
