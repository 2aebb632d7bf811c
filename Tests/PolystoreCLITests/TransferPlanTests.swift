import Foundation
import Testing

/// `polystore transfer --plan`.
@Suite struct TransferPlanTests {
    private let program: Program
    private let store: String

    init() throws {
        program = try Program()
        store = "sqlite:\(program.folder.path)/shop.db"
        try load(store, "Product")
    }

    /// Loads three objects of an entity into a new store.
    private func load(_ store: String, _ entity: String) throws {
        let model = try program.file(
            "\(entity).json",
            """
            {"entities": [{"name": "\(entity)", "attributes": [{"name": "name", "type": "string"}, {"name": "price", "type": "int64", "optional": true}],
              "relationships": [{"name": "parts", "to": "\(entity)", "kind": "toMany"}]}]}
            """)
        let file = try program.file("\(entity).csv", "name,price\nab,1\ncde,\nf,3\n")
        let loaded = try program.run(["load", store, file, "--entity", entity, "--model", model, "-q"])
        #expect(loaded.code == 0, "\(loaded)")
    }

    private func plan(_ target: String, _ options: String...) throws -> (code: Int32, output: String, error: String) {
        try program.run(["transfer", store, target, "--plan", "-q"] + options)
    }

    @Test func aPlanCountsAndWritesNothing() throws {
        let target = program.folder.appendingPathComponent("copy.lmdb").path
        let found = try plan("lmdb:\(target)")
        #expect(found.code == 0 && found.output.hasSuffix("nothing is known that prevents the transfer\n"), "\(found)")
        #expect(!FileManager.default.fileExists(atPath: target))
        let json = try plan("lmdb:\(target)", "--json")
        let items =
            try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])["items"] as? [[String: Any]]
        // Three rows of key and version, six bytes of names and two prices; no pairs.
        #expect(items?.map { $0["count"] as? Int } == [3, 0] && items?.map { $0["bytes"] as? Int } == [3 * 16 + 6 + 2 * 8, 0], "\(json)")
        #expect(items?.first?["name"] as? String == "Product")
    }

    @Test func aPlanNamesWhatPreventsTheTransfer() throws {
        let full = "sqlite:\(program.folder.path)/full.db", other = "sqlite:\(program.folder.path)/other.db"
        try load(full, "Product")
        try load(other, "Thing")
        for (target, message) in [(full, "refused: the target is not empty"), (other, "refused: the target has another schema")] {
            let found = try plan(target)
            #expect(found.code == 1 && found.output.contains(message), "\(found)")
            #expect(try program.run(["transfer", store, target, "-q"]).code != 0)
        }
    }

    /// A target that a transfer refuses, with a part of the reason.
    struct Refusal: Sendable, CustomTestStringConvertible {
        let target: String
        let reason: String
        let before: @Sendable (Program) throws -> Void

        init(_ target: String, _ reason: String, before: @escaping @Sendable (Program) throws -> Void = { _ in }) {
            self.target = target
            self.reason = reason
            self.before = before
        }

        var testDescription: String { target }

        static let all = [
            Refusal("sqlite:FOLDER/none/x.db", "does not exist; create it first"),
            Refusal("sqlite:FOLDER/link.db", "is a symbolic link to a file that does not exist") {
                try FileManager.default.createSymbolicLink(atPath: $0.folder.path + "/link.db", withDestinationPath: "nowhere.db")
            },
            Refusal("sqlite:FOLDER/new.db?catalog=foreign", "a foreign database is read-only"),
            Refusal("sqlite:FOLDER/new.db?catalog=inplace", "there is no database at this path"),
            Refusal("sqlite:FOLDER/other.db?catalog=inplace", "the target has another schema") {
                try $0.sqlite3("other.db", "CREATE TABLE t(id INTEGER PRIMARY KEY, n INTEGER)")
            },
            Refusal("sqlite:FOLDER/other.db?catalog=foreign", "a foreign database is read-only") {
                try $0.sqlite3("other.db", "CREATE TABLE t(id INTEGER PRIMARY KEY, n INTEGER)")
            },
            Refusal("sqlite:FOLDER/other.db", "the SQLite file belongs to another program") {
                try $0.sqlite3("other.db", "CREATE TABLE t(id INTEGER PRIMARY KEY, n INTEGER)")
            },
            Refusal("sqlite:FOLDER/notes.txt", "the file is not a SQLite database") {
                _ = try $0.file("notes.txt", String(repeating: "not a database\n", count: 100))
            },
            Refusal("sqlite:FOLDER/shop.db", "the source and the target are the same store"),
        ]
    }

    /// What the plan refuses, the transfer refuses, and neither changes anything.
    @Test(arguments: Refusal.all) func thePlanAndTheTransferRefuseTheSame(_ refusal: Refusal) throws {
        try refusal.before(program)
        func content() throws -> [String: Data?] {
            let names = try FileManager.default.contentsOfDirectory(atPath: program.folder.path)
            return Dictionary(
                uniqueKeysWithValues: names.filter { !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }.map { name in
                    (name, FileManager.default.contents(atPath: program.folder.appendingPathComponent(name).path))
                })
        }
        let before = try content(), target = refusal.target.replacingOccurrences(of: "FOLDER", with: program.folder.path)
        let found = try plan(target)
        #expect(found.code == 1 && found.output.contains("refused: ") && found.output.contains(refusal.reason), "\(found)")
        let transfer = try program.run(["transfer", store, target, "-q"])
        #expect(transfer.code != 0 && transfer.error.contains(refusal.reason), "\(transfer)")
        #expect(!transfer.error.contains("\(target): \(target): "), "the store is named once")
        #expect(try content() == before)
    }

    /// A store takes an empty file as its own.
    @Test func anEmptyFileIsAFreeTarget() throws {
        let file = try program.file("empty.db", "")
        #expect(try plan("sqlite:\(file)").code == 0)
        #expect(try program.run(["transfer", store, "sqlite:\(file)", "-q"]).code == 0)
        #expect(try program.run(["verify", store, "sqlite:\(file)"]).code == 0)
    }

    @Test func aTransferWhoseReportCannotBeWrittenIsNoFailure() throws {
        let process = Program.process(["transfer", store, "sqlite:\(program.folder.path)/copy.db"]), error = Pipe()
        process.standardOutput = FileHandle(forWritingAtPath: "/dev/full")
        process.standardError = error
        try process.run()
        let text = String(decoding: error.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0 && text.contains("copied 3 rows"), "\(text)")
    }

    @Test func aRowThatCannotBeReadIsAProblemOfItsTable() throws {
        try program.sqlite3(
            "broken.db",
            "CREATE TABLE t(id INTEGER PRIMARY KEY, n INTEGER); INSERT INTO t VALUES (1, 5), (2, 'x'); CREATE TABLE u(id INTEGER PRIMARY KEY)"
        )
        let found = try program.run(
            ["transfer", "sqlite:\(program.folder.path)/broken.db?catalog=foreign", "memory:", "--plan", "--json", "-q"])
        let json = try #require(try JSONSerialization.jsonObject(with: Data(found.output.utf8)) as? [String: Any])
        let items = try #require(json["items"] as? [[String: Any]])
        #expect(found.code == 1 && items.map { $0["count"] as? Int } == [2, 0], "\(found)")
        #expect((items[0]["problem"] as? String)?.contains("t.n") == true && items[1]["problem"] is NSNull, "\(found)")
    }
}
