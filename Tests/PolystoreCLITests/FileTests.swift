import Foundation
import Testing

/// The files that a command reads and writes.
@Suite(.timeLimit(.minutes(15))) struct FileTests {
    private let program: Program
    private let model: String

    init() throws {
        program = try Program()
        model = try program.file(
            "model.json", "{\"entities\": [{\"name\": \"Note\", \"attributes\": [{\"name\": \"text\", \"type\": \"string\"}]}]}")
    }

    private func path(_ name: String) -> String { program.folder.appendingPathComponent(name).path }

    private func load(_ file: String, _ options: String...) throws -> (code: Int32, output: String, error: String) {
        try program.run(["load", "sqlite:\(path("a.db"))", file, "--entity", "Note", "--model", model] + options)
    }

    private func mode(_ name: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path(name))[.posixPermissions] as? Int
    }

    @Test func aPipeIsRefusedWhereAFileIsExpected() throws {
        let pipe = path("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        for arguments in [
            ["load", "memory:", pipe, "--entity", "Note", "--model", model], ["load", "memory:", "--mapping", pipe, "--model", model],
            ["load", "memory:", "x.csv", "--entity", "Note", "--model", pipe], ["model", "show", pipe], ["info", pipe],
            ["info", "sqlite:\(pipe)"], ["info", "lmdb:\(pipe)"], ["load", "sqlite:\(pipe)", model, "--entity", "Note", "--model", model],
        ] {
            let result = try program.run(arguments)
            #expect(result.code == 2 && !result.error.isEmpty, "\(arguments)")
        }
        let named = try program.run(["load", "memory:", pipe, "--entity", "Note", "--model", model])
        #expect(named.error.contains("not a regular file"))
    }

    @Test func aFileThatIsNoTextSaysWhatItIs() throws {
        try FileManager.default.createSymbolicLink(atPath: path("loop.csv"), withDestinationPath: "loop.csv")
        try FileManager.default.createDirectory(atPath: path("folder.csv"), withIntermediateDirectories: false)
        for (order, name) in [([0xff, 0xfe], "little.csv"), ([0xfe, 0xff], "big.csv")] as [([UInt8], String)] {
            try Data(order + "text\n".utf8.flatMap { order[0] == 0xff ? [$0, 0] : [0, $0] }).write(to: URL(fileURLWithPath: path(name)))
        }
        for (name, sentence) in [
            ("loop.csv", "the file cannot be read: \(String(cString: strerror(ELOOP)))"), ("folder.csv", "this is a folder"),
            ("little.csv", "the text is UTF-16; convert it"), ("big.csv", "the text is UTF-16; convert it"),
        ] {
            let result = try load(path(name))
            #expect(result.code == 2 && result.error.contains(sentence), "\(name): \(result)")
            #expect(!FileManager.default.fileExists(atPath: path("a.db")))
        }
    }

    /// A path that the system cannot resolve.
    @Test(arguments: ["sqlite", "lmdb"]) func aLoopOfLinksIsNoStore(_ kind: String) throws {
        try FileManager.default.createSymbolicLink(atPath: path("loop"), withDestinationPath: "loop")
        let notes = try program.file("notes.csv", "text\na\n"), store = "\(kind):\(path("loop"))"
        for arguments in [["info", store], ["load", store, notes, "--entity", "Note", "--model", model]] {
            let result = try program.run(arguments)
            #expect(result.code == 2 && result.error.contains("form a loop"), "\(arguments): \(result.error)")
        }
    }

    @Test func aNameWithoutAPropertyIsRefusedUnlessIgnored() throws {
        let file = try program.file("notes.ndjson", "{\"text\": \"a\"}\n{\"text\": \"b\", \"texd\": \"c\"}\n")
        let refused = try load(file)
        #expect(refused.code == 2)
        #expect(refused.error.contains("notes.ndjson, line 2: Note has no property for \"texd\"; did you mean \"text\"?"))
        #expect(try load(file, "--ignore-unknown").output.contains("loaded 2 objects of Note"))
    }

    @Test func anExportReplacesAFileWhenItIsComplete() throws {
        #expect(try load(program.file("notes.csv", "text\na\nb\n")).code == 0)
        let store = "sqlite:\(path("a.db"))"
        _ = try program.file("real.ndjson", "{\"polystore\":\"archive\",\"format\":2}")
        try FileManager.default.createSymbolicLink(atPath: path("link.ndjson"), withDestinationPath: path("real.ndjson"))
        #expect(try program.run(["dump", store, "-o", path("link.ndjson")]).code == 0)
        #expect(try String(contentsOfFile: path("real.ndjson"), encoding: .utf8).split(separator: "\n").count == 5)
        #expect(try program.run(["dump", store, "-o", path("new.ndjson")]).code == 0)
        let mask = umask(0)
        umask(mask)
        #expect(try mode("new.ndjson") == Int(0o666 & ~mask))
        let names = try FileManager.default.contentsOfDirectory(atPath: program.folder.path)
        #expect(!names.contains { $0.contains("partial") }, "\(names)")
    }

    /// Somebody's own file, whatever its name is. Files of earlier runs are replaced.
    @Test func noOutputReplacesAFileThatNoCommandHasWritten() throws {
        let bad = try program.file("bad.ndjson", "{\"text\": \"a\"}\n{\"text\": \n"), store = "sqlite:\(path("a.db"))"
        func dump(_ name: String) throws -> (code: Int32, output: String, error: String) {
            try program.run(["dump", store, "-o", path(name)])
        }
        func reject(_ name: String) throws -> (code: Int32, output: String, error: String) {
            try? FileManager.default.removeItem(atPath: path("b.db"))
            return try program.run([
                "load", "sqlite:\(path("b.db"))", bad, "--entity", "Note", "--model", model, "--rejects", path(name),
            ])
        }
        #expect(try load(program.file("notes.csv", "text\na\nb\n")).code == 0)
        let own = "name,email\nann,ann@example.com\n"
        for name in ["own.txt", "own.csv", "own.ndjson", "own.ndjson.gz"] {
            _ = try program.file(name, own)
            let generated = try program.run(["model", "generate", model, "-o", path(name)])
            for result in [try dump(name), try reject(name), generated] {
                #expect(result.code == 5 && result.error.contains("\(name) exists and is not a"), "\(result)")
            }
            #expect(try String(contentsOfFile: path(name), encoding: .utf8) == own)
            #expect(!FileManager.default.fileExists(atPath: path("b.db")))
        }
        for name in ["new.ndjson", "new.ndjson.gz"] {
            for _ in 1...2 { #expect(try dump(name).code == 0) }
            #expect(try reject(name).code == 5)
        }
        for _ in 1...2 { #expect(try program.run(["model", "generate", model, "-o", path("Model.swift")]).code == 0) }
        _ = try program.file("empty.ndjson", "")
        for name in ["empty.ndjson", "rejects.ndjson"] { for _ in 1...2 { #expect(try reject(name).code == 3) } }
        #expect(try dump("rejects.ndjson").code == 5)
    }

    /// The texts by which files of a kind are recognized, inside of other files.
    @Test func noOutputReplacesAFileThatQuotesTheFilesOfACommand() throws {
        #expect(try load(program.file("notes.csv", "text\na\n")).code == 0)
        let bad = try program.file("bad.ndjson", "{\"text\": \n"), store = "sqlite:\(path("a.db"))"
        let own = "Files\n{\"polystore\":\"archive\", polystore_reason, \"entities\"\n// Generated by `polystore model generate`\n"
        _ = try program.file("own.ndjson", own)
        #expect(try program.run(["dump", store, "-o", path("archive.ndjson")]).code == 0)
        try FileManager.default.createDirectory(atPath: path("Data.xcdatamodel"), withIntermediateDirectories: false)
        _ = try program.file(
            "Data.xcdatamodel/contents",
            #"<model documentVersion="1.0"><entity name="Note"><attribute name="text" attributeType="String"/></entity></model>"#)
        func imported(_ name: String) throws -> (code: Int32, output: String, error: String) {
            try program.run(["model", "import", path("Data.xcdatamodel"), "-o", path(name)])
        }
        for result in [
            try program.run(["dump", store, "-o", path("own.ndjson")]), try imported("own.ndjson"), try imported("archive.ndjson"),
            try program.run(["model", "generate", model, "-o", path("own.ndjson")]),
            try program.run([
                "load", "sqlite:\(path("b.db"))", bad, "--entity", "Note", "--model", model, "--rejects", path("own.ndjson"),
            ]),
        ] { #expect(result.code == 5 && result.error.contains("exists and is not a"), "\(result)") }
        #expect(try String(contentsOfFile: path("own.ndjson"), encoding: .utf8) == own)
        for _ in 1...2 { #expect(try imported("new.json").code == 0) }
    }

    /// The reason follows the record.
    @Test(arguments: ["rejects.ndjson", "rejects.ndjson.gz"]) func aFileOfLongRejectedRecordsIsReplaced(_ name: String) throws {
        let limited = try program.file(
            "limited.json",
            #"{"entities": [{"name": "Note", "attributes": [{"name": "text", "type": "string", "maxLength": 9}]}]}"#)
        let long = try program.file("long.ndjson", "{\"text\": \"\(String(repeating: "a", count: 3 << 20))\"}\n")
        for _ in 1...2 {
            try? FileManager.default.removeItem(atPath: path("b.db"))
            let found = try program.run([
                "load", "sqlite:\(path("b.db"))", long, "--entity", "Note", "--model", limited, "--rejects", path(name),
            ])
            #expect(found.code == 3, "\(found)")
            #expect(!found.error.contains("gzip"))
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: program.folder.path)
        #expect(!names.contains { $0.contains("partial") }, "\(names)")
    }

    @Test(arguments: ["a.db", "a.db-journal", "link.db", "a.lmdb", "a.lmdb-lock"])
    func aStoreIsNotReplacedByItsExport(_ output: String) throws {
        let store = output.contains("lmdb") ? "lmdb:\(path("a.lmdb"))" : "sqlite:\(path("a.db"))"
        let file = try program.file("notes.csv", "text\na\nb\n")
        #expect(try program.run(["load", store, file, "--entity", "Note", "--model", model]).code == 0)
        try FileManager.default.createSymbolicLink(atPath: path("link.db"), withDestinationPath: path("a.db"))
        let refused = try program.run(["dump", store, "-o", path(output)])
        #expect(refused.code == 2 && refused.error.contains("is a file of the store that is read"), "\(refused)")
        #expect(try program.run(["dump", store]).output.split(separator: "\n").count == 5)
    }

    @Test func noOutputReplacesADatabaseOrOneOfItsFiles() throws {
        for name in ["a.db", "b.db"] {
            let file = try program.file("notes.csv", "text\na\n")
            #expect(try program.run(["load", "sqlite:\(path(name))", file, "--entity", "Note", "--model", model]).code == 0)
        }
        let before = try Data(contentsOf: URL(fileURLWithPath: path("a.db")))
        for arguments in [
            ["dump", "sqlite:\(path("b.db"))", "-o", path("a.db")], ["model", "generate", path("a.db"), "-o", path("a.db")],
            ["model", "generate", model, "-o", path("a.db")], ["model", "generate", model, "-o", model],
        ] {
            #expect(try program.run(arguments).code != 0, "\(arguments)")
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path("a.db"))) == before)
        #expect(try String(contentsOfFile: model, encoding: .utf8).hasPrefix("{\"entities\""))
    }

    /// A load that fails removes what it has made, and nothing that was there.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["POLYSTORE_TEST_POSTGRES"] != nil))
    func aLoadThatFailsKeepsTheTablesOfOtherPrograms() throws {
        let server = ProcessInfo.processInfo.environment["POLYSTORE_TEST_POSTGRES"] ?? ""
        let name = "polystore_\(UUID().uuidString.lowercased().replacingOccurrences(of: "-", with: ""))"
        func psql(_ sql: String) throws -> String {
            let process = Process(), output = Pipe()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = ["psql", "-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "-c", sql, "-d", server]
            process.standardOutput = output
            try process.run()
            process.waitUntilExit()
            let text = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
            return text.trimmingCharacters(in: .whitespacesAndNewlines)
        }
        _ = try psql("CREATE SCHEMA \(name); CREATE TABLE \(name).orders AS SELECT generate_series(1, 1000) AS id")
        defer { _ = try? psql("DROP SCHEMA \(name) CASCADE") }
        let file = try program.file("bad.ndjson", "{\"text\": \"a\"}\n{\"text\": 7}\n")
        let result = try program.run(["load", "\(server)&x-schema=\(name)", file, "--entity", "Note", "--model", model])
        #expect(result.code == 2, "\(result)")
        #expect(try psql("SELECT count(*) FROM \(name).orders") == "1000")
        #expect(try psql("SELECT count(*) FROM pg_class WHERE relnamespace = '\(name)'::regnamespace") == "1")
    }

    @Test func anOutputThatCannotBeWrittenIsTrouble() throws {
        #expect(try load(program.file("notes.csv", "text\na\nb\n")).code == 0)
        let process = Program.process(["dump", "sqlite:\(path("a.db"))"])
        process.standardOutput = FileHandle(forWritingAtPath: "/dev/full")
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationReason == .exit && process.terminationStatus == 2)
        let result = try program.run(["dump", "sqlite:\(path("a.db"))", "-o", path("missing/a.ndjson")])
        #expect(result.code == 2 && !result.error.contains(program.folder.path), "\(result.error)")
    }

    @Test func aHyphenIsTheStandardOutput() throws {
        #expect(try load(program.file("notes.csv", "text\na\n")).code == 0)
        let archive = try program.run(["dump", "sqlite:\(path("a.db"))", "-o", "-"])
        #expect(archive.code == 0 && archive.output.hasPrefix("{\"polystore\":\"archive\""), "\(archive)")
    }

    @Test func rejectedRecordsAreInAFile() throws {
        let result = try load(program.file("notes.csv", "text\na\n"), "--rejects", "-")
        #expect(result.code == 2 && result.error.contains("the standard output is not available here"), "\(result)")
        #expect(!FileManager.default.fileExists(atPath: path("a.db")))
    }

    @Test(arguments: ["sqlite:copy.db", "@copy", "env:COPY", "-"]) func aBackupIsNamedByAPath(_ name: String) throws {
        #expect(try load(program.file("notes.csv", "text\na\n")).code == 0)
        let result = try program.run(["backup", "sqlite:\(path("a.db"))", name])
        #expect(result.code == 2 && result.error.contains("\(name) is no path of a file"), "\(result)")
    }

    @Test func theRejectedRecordsAreNoFileOfTheStore() throws {
        let notes = try program.file("notes.ndjson", "{\"text\": \"a\"}\n{\"text\": 1}\n")
        for name in ["a.db", "a.db-wal"] {
            let result = try load(notes, "--rejects", path(name))
            #expect(result.code == 2 && result.error.contains("would be a file of the target"), "\(result)")
            #expect(!FileManager.default.fileExists(atPath: path(name)))
        }
    }

    /// Beyond the limit of the size of files a program would be ended by a signal.
    @Test func aFileThatMayNotGrowIsRemoved() throws {
        let text = String(repeating: "x", count: 1000)
        #expect(try load(program.file("notes.csv", "text\n" + (0..<100).map { "\($0)\(text)\n" }.joined())).code == 0)
        for command in [#"dump "$1" -o "$2""#, #"backup "$1" "$2""#] {
            let process = Process(), error = Pipe()
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            process.arguments = [
                "-c", "ulimit -f 100; exec \"$0\" \(command)", Program.executable.path, "sqlite:\(path("a.db"))", path("a.ndjson"),
            ]
            process.standardError = error
            try process.run()
            let said = String(decoding: error.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            #expect(process.terminationReason == .exit && process.terminationStatus == 2 && !said.isEmpty, "\(said)")
            #expect(!said.contains("a.db"), "the store is not the one that cannot grow: \(said)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: program.folder.path).filter { $0.contains("ndjson") }.isEmpty)
        }
    }

    @Test func aValueMayBeSeparatedByABar() throws {
        let file = try program.file("bars.csv", "name|size (m)\nx|1\n\"y|z\"|2\n"), store = "sqlite:\(path("bars.db"))"
        #expect(try program.run(["load", store, file, "--infer", "--entity", "Bar", "-q"]).code == 0)
        #expect(
            try program.run(["query", store, "Bar", "--format", "csv"]).output == "key,name,size__m_\n1,x,1\n2,y|z,2\n")
    }
}
