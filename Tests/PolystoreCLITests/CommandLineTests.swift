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
        let change = Process()
        change.executableURL = URL(fileURLWithPath: "/usr/bin/sqlite3")
        change.arguments = ["\(folder.path)/c.db", "UPDATE Note SET text = 'x' WHERE _id = 1"]
        try change.run()
        change.waitUntilExit()
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
        #expect(result.error == "left out: transient attribute Note.seen\n")
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

    @Test func aDatabaseOfAnotherProgramIsShownMovedAndCompared() throws {
        let make = Process()
        make.executableURL = URL(fileURLWithPath: "/usr/bin/sqlite3")
        make.arguments = [
            "\(folder.path)/foreign.db",
            "CREATE TABLE pet(id INTEGER PRIMARY KEY, name TEXT, owner_id INTEGER REFERENCES owner(id)); CREATE TABLE owner(id INTEGER "
                + "PRIMARY KEY); CREATE VIEW v AS SELECT 1; INSERT INTO owner VALUES(7); INSERT INTO pet VALUES(1, 'Rex', 7);",
        ]
        try make.run()
        make.waitUntilExit()
        let store = "sqlite:\(folder.path)/foreign.db?catalog=foreign", copy = "lmdb:\(folder.path)/foreign.lmdb"
        #expect(try run("info", "sqlite:\(folder.path)/foreign.db").error.contains("catalog=foreign"))
        #expect(try run("info", store).output.contains("note: the view v is left out: only tables are read"))
        #expect(try run("info", store, "--json").output.contains("\"remarks\":[\"the view v is left out: only tables are read\"]"))
        let moved = try run("transfer", store, copy)
        #expect(moved.code == 0 && moved.error.contains("note: the view v is left out"))
        #expect(moved.output.contains("copied 2 rows"))
        #expect(try run("verify", store, copy).code == 0)
        let pet = "{\"entity\":\"pet\",\"key\":1,\"version\":1,\"name\":\"Rex\",\"owner\":7}\n"
        #expect(try run("query", store, "pet", "--where", "owner == 7").output == pet)
        #expect(try run("dump", copy).output == "{\"entity\":\"owner\",\"key\":7,\"version\":1}\n" + pet)
        #expect(try run("transfer", copy, store).code == 2)
    }

    @Test func aDatabaseOfAnotherProgramIsWrittenInPlace() throws {
        func sqlite3(_ text: String) throws {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/sqlite3")
            process.arguments = ["\(folder.path)/place.db", text]
            try process.run()
            process.waitUntilExit()
        }
        try sqlite3("CREATE TABLE pet(id INTEGER PRIMARY KEY, name TEXT)")
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
        #expect(refused.code != 0 && refused.error.contains("owner"))
        try sqlite3("DROP TABLE pet; CREATE TABLE pet(name TEXT)")
        let unfit = try run("info", store)
        #expect(unfit.code == 2 && unfit.error.contains("pet") && unfit.error.contains("catalog=foreign"))
    }
}
