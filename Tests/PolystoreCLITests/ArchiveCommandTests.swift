import Foundation
import Testing

#if canImport(Glibc)
import Glibc
#endif

/// The commands that look after stores: archives, copies, comparison, checks, and removal.
@Suite struct ArchiveCommandTests {
    private let program: Program
    private var folder: URL { program.folder }

    init() throws { program = try Program() }

    private func run(_ arguments: String...) throws -> (code: Int32, output: String, error: String) { try program.run(arguments) }

    private static let model = #"{"entities": [{"name": "Note", "attributes": [{"name": "text", "type": "string"}]}]}"#

    /// A store with two notes.
    private func notes() throws -> String {
        let model = try program.file("model.json", Self.model)
        let store = "sqlite:\(folder.path)/a.db"
        #expect(try run("load", store, program.file("notes.csv", "text\na\nb\n"), "--entity", "Note", "--model", model).code == 0)
        return store
    }

    @Test func aStoreIsRestoredFromItsArchiveCompressedOrNot() throws {
        let store = try notes()
        for name in ["a.ndjson", "a.ndjson.gz"] {
            let archive = "\(folder.path)/\(name)", copy = "lmdb:\(folder.path)/\(name).lmdb"
            #expect(try run("dump", store, "-o", archive).code == 0)
            let restored = try run("restore", archive, copy)
            #expect(
                restored.output == "restored 2 rows of 1 tables and 0 transactions of the history; all digests are those of the archive\n",
                "\(restored)")
            #expect(try run("diff", store, copy).output == "the stores are equal\n")
            #expect(try run("restore", archive, copy).code == 5)
        }
        let plain = try Data(contentsOf: folder.appendingPathComponent("a.ndjson"))
        let compressed = try Data(contentsOf: folder.appendingPathComponent("a.ndjson.gz"))
        #expect(plain.starts(with: Data(#"{"polystore":"archive","format":2,"#.utf8)))
        #expect(compressed.starts(with: [0x1f, 0x8b]))
    }

    @Test func theHistoryIsRestoredUnlessItIsLeftOut() throws {
        let store = try notes(), archive = "\(folder.path)/a.gz"
        #expect(try run("update", store, "Note", "--all", "--set", "text = uppercase(text)", "--yes").code == 0)
        #expect(try run("delete", store, "Note", "--where", "text == 'A'", "--yes").code == 0)
        /// What `history` prints without the tokens.
        func history(_ store: String) throws -> [String] {
            try run("history", store, "--json").output.split(separator: "\n").map { String($0.drop { $0 != "," }) }
        }
        let original = try history(store)
        #expect(original.count == 2 && original[0].contains(#""author":"update""#), "\(original)")
        #expect(try run("dump", store, "-o", archive).code == 0)
        for copy in ["sqlite:\(folder.path)/copy.db", "lmdb:\(folder.path)/copy.lmdb"] {
            let restored = try run("restore", archive, copy)
            #expect(restored.output.contains("and 2 transactions of the history"), "\(restored)")
            #expect(try history(copy) == original)
            #expect(try run("check", copy).code == 0)
        }
        let without = try run("restore", archive, "sqlite:\(folder.path)/without.db", "--no-history")
        #expect(
            without.output == "restored 1 rows of 1 tables; all digests are those of the archive\n" && without.error.isEmpty, "\(without)")
        let off = try run("restore", archive, "lmdb:\(folder.path)/off.lmdb?history=off")
        #expect(
            off.code == 0 && off.error == "polystore: the history of the archive was left out, because the store keeps none\n", "\(off)")
        #expect(try run("dump", store, "--no-history").output.hasPrefix(#"{"polystore":"archive","format":1,"#))
    }

    @Test func aDamagedArchiveLeavesNoStore() throws {
        let store = try notes(), archive = "\(folder.path)/a.gz"
        #expect(try run("dump", store, "-o", archive).code == 0)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: archive))
        try bytes.prefix(bytes.count - 9).write(to: URL(fileURLWithPath: archive))
        let result = try run("restore", archive, "sqlite:\(folder.path)/b.db")
        #expect(result.code == 2 && result.error.contains("damaged or incomplete"), "\(result)")
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(left.allSatisfy { !$0.hasPrefix("b.db") }, "\(left)")
        let noArchive = try run("restore", program.file("x.csv", "text\na\n"), "sqlite:\(folder.path)/b.db")
        #expect(noArchive.code == 2 && noArchive.error.contains("is not an archive"))
    }

    @Test func aDamagedHistoryCanBeLeftOutOfAnArchive() throws {
        let store = try notes()
        try program.sqlite3("a.db", "INSERT INTO polystore_history VALUES(1, 5, 'me', x'ffff')")
        let refused = try run("dump", store, "-o", "\(folder.path)/a.ndjson")
        #expect(refused.code == 2 && refused.error.contains("--no-history"), "\(refused)")
        #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/a.ndjson"))
        #expect(try run("dump", store, "-o", "\(folder.path)/a.ndjson", "--no-history").code == 0)
    }

    /// A store in a file has its name only when it is complete, and the same command replaces what was left.
    @Test(arguments: ["sqlite:b.db", "lmdb:b.lmdb"]) func aKilledRestoreLeavesNothingThatLooksComplete(_ target: String) throws {
        let parts = target.split(separator: ":"), name = String(parts[1]), copy = "\(parts[0]):\(folder.path)/\(name)"
        let archive = "\(folder.path)/a.ndjson", model = try program.file("model.json", Self.model)
        let csv = try program.file("many.csv", "text\n" + (1...60_000).map { "row \($0)\n" }.joined())
        try #require(run("load", "sqlite:\(folder.path)/many.db", csv, "--entity", "Note", "--model", model).code == 0)
        try #require(run("dump", "sqlite:\(folder.path)/many.db", "-o", archive).code == 0)
        func files() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix(name) }.sorted()
        }
        let process = Program.process(["restore", archive, copy])
        process.standardError = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        while process.isRunning, try !files().contains("\(name).restore.partial") { usleep(1000) }
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        let left = try files()
        #expect(!left.contains(name) && left.contains("\(name).restore.partial"), "\(left)")
        // The process could have ended while it created the file.
        _ = try program.file("\(name).restore.partial.new-1", "")
        let again = try run("restore", archive, copy)
        #expect(again.code == 0, "\(again)")
        let published = try files()
        #expect(published.allSatisfy { !$0.contains("partial") }, "\(published)")
        #expect(try run("verify", "sqlite:\(folder.path)/many.db", copy).code == 0)
        // A file of another program is not replaced.
        let other = "\(parts[0]):\(folder.path)/c"
        _ = try program.file("c.restore.partial", "mine")
        let refused = try run("restore", archive, other)
        #expect(refused.code == 5 && refused.error.contains("c.restore.partial is a file of another program"), "\(refused)")
        #expect(try String(contentsOfFile: "\(folder.path)/c.restore.partial", encoding: .utf8) == "mine")
    }

    @Test func anArchiveThatDoesNotFitOnTheDiskIsTrouble() throws {
        let result = try run("dump", notes(), "-o", "/dev/full")
        #expect(result.code == 2 && result.error.contains("no space"), "\(result)")
    }

    @Test func differencesAreListedWithTheirValues() throws {
        let store = try notes(), copy = "sqlite:\(folder.path)/b.db"
        #expect(try run("transfer", store, copy).code == 0)
        try program.sqlite3("b.db", "UPDATE Note SET text = 'x' WHERE _id = 1; DELETE FROM Note WHERE _id = 2")
        let lines = try run("diff", store, copy)
        #expect(lines.code == 1)
        #expect(lines.output == "~ Note 1: text \"a\" → \"x\"\n- Note 2\n")
        #expect(try run("diff", store, copy, "--limit", "1").output == "~ Note 1: text \"a\" → \"x\"\nand 1 more objects\n")
        let json = try run("verify", store, copy, "--rows", "--json").output
        #expect(
            json.hasSuffix(
                #"{"entity":"Note","key":1,"properties":{"text":{"first":"a","second":"x"}}}"# + "\n"
                    + #"{"entity":"Note","key":2,"only":"first"}"# + "\n"))
        #expect(try run("verify", store, copy, "--limit", "1").code == 64)
    }

    @Test(arguments: ["verify", "diff"]) func theStoreThatCannotBeReadIsNamed(command: String) throws {
        let store = try notes(), copy = "sqlite:\(folder.path)/b.db"
        #expect(try run("transfer", store, copy).code == 0)
        try program.sqlite3("b.db", "DROP TABLE Note")
        let second = try run(command, store, copy), first = try run(command, copy, store)
        #expect(second.code == 2 && second.error.contains("the second store: "), "\(second)")
        #expect(first.code == 2 && first.error.contains("the first store: "), "\(first)")
    }

    @Test func aBackupIsAWholeStore() throws {
        let store = try notes(), copy = "\(folder.path)/copy.db"
        #expect(try run("backup", store, copy).code == 0)
        #expect(try run("verify", store, "sqlite:\(copy)").code == 0)
        #expect(try run("backup", store, copy).code == 5)
        #expect(try run("check", "sqlite:\(copy)").output == "nothing was found\n")
        #expect(try run("compact", "sqlite:\(copy)").code == 0)
    }

    @Test func aCheckNamesWhatItFinds() throws {
        let store = try notes()
        try program.sqlite3("a.db", "UPDATE Note SET text = NULL WHERE _id = 2")
        let result = try run("check", store)
        #expect(result.code == 1)
        let finding = "Note.text of object 2: the attribute is required but nil; --repair --delete-broken deletes the object\n"
        #expect(result.output == finding, "\(result)")
    }

    @Test func aStoreIsErasedOnlyIfConfirmed() throws {
        let store = try notes(), file = "\(folder.path)/a.db"
        let refused = try run("erase", store)
        #expect(refused.code == 5 && refused.error.contains("--yes"))
        #expect(FileManager.default.fileExists(atPath: file))
        #expect(try run("erase", store, "--yes").code == 0)
        #expect(!FileManager.default.fileExists(atPath: file))
    }
}
