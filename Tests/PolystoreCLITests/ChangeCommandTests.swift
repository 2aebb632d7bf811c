import Foundation
import Testing

/// `polystore update`, `polystore delete` and `polystore explain`.
@Suite struct ChangeCommandTests {
    private let program: Program
    private let store: String

    init() throws {
        program = try Program()
        store = "sqlite:\(program.folder.path)/shop.db"
        let model = try program.file(
            "shop.json",
            """
            {"entities": [
              {"name": "Order", "attributes": [{"name": "number", "type": "int64"}, {"name": "note", "type": "string", "optional": true},
                {"name": "total", "type": "decimal", "optional": true}], "indexes": [{"properties": ["number"]}],
                "relationships": [{"name": "lines", "to": "Line", "kind": "toMany", "inverse": "order", "deleteRule": "cascade"}]},
              {"name": "Line", "attributes": [{"name": "count", "type": "int64", "minimum": 1}],
                "relationships": [{"name": "order", "to": "Order", "inverse": "lines"}]}]}
            """)
        _ = try program.file("orders.csv", "number,note,total\n1,first,9.90\n2,,20\n3,third,5\n")
        _ = try program.file("lines.csv", "count,number\n5,1\n6,1\n7,2\n")
        let mapping = try program.file(
            "mapping.json",
            """
            {"files": [{"file": "orders.csv", "entity": "Order"},
              {"file": "lines.csv", "entity": "Line", "relationships": {"order": {"number": "number"}}}]}
            """)
        let loaded = try run("load", store, "--mapping", mapping, "--model", model, "-q")
        #expect(loaded.code == 0, "\(loaded)")
    }

    private func run(_ arguments: String...) throws -> (code: Int32, output: String, error: String) { try program.run(arguments) }

    private func orders() throws -> String {
        try run("query", store, "Order", "--select", "number, note, total", "--order-by", "number", "--format", "csv").output
    }

    private func counts() throws -> String {
        try run("query", store, "Line", "--select", "count", "--order-by", "count", "--format", "csv").output
    }

    @Test func attributesAreAssignedValuesOfWhatTheyWere() throws {
        let result = try run(
            "update", store, "Order", "--where", "total != NIL AND number < 3", "--set", "total = total * 2", "--set",
            "note = concatenate('was ', total > 10 ? 'dear' : 'cheap')", "--yes")
        #expect(result.code == 2, "\(result)")
        let changed = try run(
            "update", store, "Order", "--where", "number < 3", "--set", "total = total * 2", "--set",
            "note = TERNARY(total > 10, 'dear', NIL)", "--yes")
        #expect(changed.output == "updated 2 objects of Order\n", "\(changed)")
        #expect(try orders() == "number,note,total\n1,,19.8\n2,dear,40\n3,third,5\n")
        #expect(try run("update", store, "Order", "--all", "--set", "note=NIL", "--yes").output == "updated 3 objects of Order\n")
        #expect(try orders() == "number,note,total\n1,,19.8\n2,,40\n3,,5\n")
        #expect(try run("update", store, "Order", "--where", "number == 9", "--set", "note = 'x'").output == "updated 0 objects of Order\n")
        let history = try run("history", "show", store)
        #expect(history.output.contains("update"), "\(history)")
    }

    @Test func nothingChangesWithoutAConfirmation() throws {
        let before = try orders()
        for arguments in [
            ["update", store, "Order", "--all", "--set", "note = 'x'"], ["delete", store, "Order", "--where", "number > 0"],
        ] {
            let refused = try program.run(arguments)
            #expect(refused.code == 5 && refused.error.contains("--yes"), "\(refused)")
        }
        #expect(try orders() == before)
    }

    @Test func wrongUsageIsRefusedBeforeAnythingChanges() throws {
        let before = try orders()
        for (arguments, code, message) in [
            (["update", store, "Order", "--set", "note = 'x'", "--yes"], 64, "--where CONDITION or --all"),
            (["delete", store, "Order", "--all", "--where", "number > 1", "--yes"], 64, "--where CONDITION or --all"),
            (["update", store, "Order", "--all", "--yes"], 64, "--set"),
            (["update", store, "Order", "--all", "--set", "note == 'x'", "--yes"], 64, "note == 'x'"),
            (["update", store, "Order", "--all", "--set", "nte = 'x'", "--yes"], 2, "did you mean \"note\"?"),
            (["update", store, "Line", "--all", "--set", "order = NIL", "--yes"], 2, "only attributes"),
            (["update", store, "Ordr", "--all", "--set", "note = 'x'", "--yes"], 2, "Order"),
            (["update", store, "Order", "--all", "--set", "number = 'x'", "--yes"], 2, "number"),
            (["update", store, "Order", "--all", "--set", "number = NIL", "--yes"], 2, "number"),
            (["update", store, "Order", "--all", "--set", "total = total / (number - 2)", "--yes"], 2, "zero"),
            (["update", store, "Line", "--all", "--set", "count = count - 5", "--yes"], 2, "count"),
            (["delete", store, "Order", "--where", "nmber > 1", "--yes"], 2, "number"),
        ] as [([String], Int32, String)] {
            let refused = try program.run(arguments)
            #expect(refused.code == code && refused.error.contains(message), "\(arguments): \(refused)")
        }
        #expect(try orders() == before)
        #expect(try counts() == "count\n5\n6\n7\n")
    }

    @Test func deleteRulesApply() throws {
        #expect(try run("delete", store, "Order", "--where", "number IN {1, 3}", "--yes").output == "deleted 4 objects\n")
        #expect(try orders() == "number,note,total\n2,,20\n")
        #expect(try counts() == "count\n7\n")
        #expect(try run("delete", store, "Line", "--all", "--yes").output == "deleted 1 object\n")
        #expect(try run("delete", store, "Line", "--all", "--yes").output == "deleted 0 objects\n")
        #expect(try run("check", store).code == 0)
    }

    @Test func aRequestIsExplained() throws {
        let plan = try run(
            "explain", store, "Order", "--where", "number > 1 AND note ==[c] 'THIRD'", "--order-by", "-number", "--limit", "5")
        #expect(
            plan.code == 0 && plan.output.contains("where number > 1: in the store") && plan.output.contains("Order.index.number"),
            "\(plan)")
        let measured = try run("explain", store, "Order", "--where", "number > 1", "--analyze")
        #expect(measured.code == 0 && measured.output.contains("2 rows read") && measured.output.contains("2 in the answer"), "\(measured)")
        #expect(try run("explain", store, "Order", "--where", "nmber > 1").error.contains("number"))
        #expect(try run("explain", store, "Order", "--limit", "-1").code == 64)
    }

    @Test func numbersHaveTheTypeOfTheAttribute() throws {
        #expect(try run("update", store, "Order", "--where", "number == 1", "--set", "total = total * 1.1", "--yes").code == 0)
        #expect(try run("update", store, "Order", "--where", "number == 2", "--set", "total = -3", "--yes").code == 0)
        #expect(try run("update", store, "Order", "--where", "number == 3", "--set", "total = 3.5", "--yes").code == 0)
        #expect(try orders() == "number,note,total\n1,first,10.89\n2,,-3\n3,third,3.5\n")
    }

    @Test func whatIsWrongIsRefusedWithoutAnObjectToo() throws {
        for text in ["nte = 1", "number = 'x'", "number = 99999999999999999999", "number ="] {
            let refused = try run("update", store, "Order", "--where", "number == 99", "--set", text)
            #expect(refused.code == 2, "\(text): \(refused)")
        }
        let refused = try run("update", store, "Order", "--all", "--set", "note = 'x'", "--set", "number =", "--yes")
        #expect(refused.error.contains("--set number ="), "\(refused)")
    }

    /// A file of a store must never have the number of a stream that the program was started without.
    @Test(arguments: [">&-", "</dev/null 2>&-", "<&- >&- 2>&-"]) func closedStreamsDamageNoStore(_ streams: String) throws {
        let copy = "lmdb:\(program.folder.path)/copy.lmdb", beside = Program.process([]).executableURL?.path ?? ""
        #expect(try run("transfer", store, copy, "-q").code == 0)
        for arguments in ["explain \(copy) Order", "update \(copy) Order --all --set \"note = 'x'\"", "erase \(copy)"] {
            let shell = Process()
            shell.executableURL = URL(fileURLWithPath: "/bin/sh")
            shell.arguments = ["-c", "\(beside) \(arguments) \(streams)"]
            try shell.run()
            shell.waitUntilExit()
            let checked = try run("check", copy)
            #expect(checked.code == 0, "\(arguments) \(streams): \(checked)")
        }
        #expect(try run("query", copy, "Order", "--count").output.hasPrefix("3"))
    }

    @Test func aChangeWhoseReportCannotBeWrittenIsNoFailure() throws {
        let process = Program.process(["update", store, "Order", "--all", "--set", "note = 'q'", "--yes"]), error = Pipe()
        process.standardOutput = FileHandle(forWritingAtPath: "/dev/full")
        process.standardError = error
        try process.run()
        let text = String(decoding: error.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0 && text.contains("updated 3 objects of Order"), "\(text)")
        #expect(try orders() == "number,note,total\n1,q,9.9\n2,q,20\n3,q,5\n")
    }

    /// Only a confirmed change may add anything to the database of another program.
    @Test func nothingIsAddedToADatabaseThatIsOnlyRead() throws {
        let place = "sqlite:\(program.folder.path)/other.db?catalog=inplace"
        try program.sqlite3("other.db", "CREATE TABLE ord(id INTEGER PRIMARY KEY, n INTEGER); INSERT INTO ord VALUES (1, 5)")
        func added() throws -> String { try program.sqlite3("other.db", "SELECT count(*) FROM sqlite_master WHERE name LIKE 'polystore%'") }
        #expect(try run("explain", place, "ord").code == 0)
        #expect(try run("update", place, "ord", "--all", "--set", "n = n + 1").code == 5)
        #expect(try run("update", place, "ord", "--all", "--set", "m = 1", "--yes").code == 2)
        #expect(try run("delete", place, "ord", "--where", "n == 7", "--yes").code == 0)
        #expect(try added() == "0\n")
        #expect(try run("update", place, "ord", "--all", "--set", "n = n + 1", "--yes").output == "updated 1 object of ord\n")
        #expect(try program.sqlite3("other.db", "SELECT n FROM ord") == "6\n")
    }

    /// Whether a process handles SIGINT by now; nil where the system does not tell.
    private func handlesInterruptions(_ process: Process) -> Bool? {
        guard let status = try? String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8),
            let line = status.split(separator: "\n").first(where: { $0.hasPrefix("SigCgt:") }),
            let handled = UInt64(line.dropFirst(7).trimmingCharacters(in: .whitespaces), radix: 16)
        else { return nil }
        return handled & 1 << UInt64(SIGINT - 1) != 0
    }

    /// The change waits for the writer of another program, so that the signal arrives in the middle.
    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/status")), arguments: ["update", "delete"])
    func anInterruptedChangeChangesNothing(_ command: String) throws {
        let writer = Process(), statements = Pipe(), answers = Pipe()
        writer.executableURL = URL(fileURLWithPath: "/usr/bin/sqlite3")
        writer.arguments = [program.folder.appendingPathComponent("shop.db").path]
        (writer.standardInput, writer.standardOutput) = (statements, answers)
        try writer.run()
        try statements.fileHandleForWriting.write(contentsOf: Data("BEGIN IMMEDIATE; SELECT 'locked';\n".utf8))
        #expect(answers.fileHandleForReading.availableData == Data("locked\n".utf8))

        let process = Program.process([command, store, "Order", "--all", "--yes"] + (command == "update" ? ["--set", "note = 'x'"] : []))
        let error = Pipe()
        process.standardError = error
        try process.run()
        while process.isRunning, handlesInterruptions(process) == false { usleep(1_000) }
        kill(process.processIdentifier, SIGINT)
        let text = String(decoding: error.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationReason == .exit && process.terminationStatus == 130 && text == "polystore: interrupted\n", "\(text)")

        try statements.fileHandleForWriting.close()
        writer.waitUntilExit()
        #expect(try orders() == "number,note,total\n1,first,9.9\n2,,20\n3,third,5\n")
    }

    @Test func anAttributeIsAssignedOnce() throws {
        let result = try run("update", store, "Order", "--all", "--set", "note = 'a'", "--set", "note = 'b'", "--yes")
        #expect(result.code == 64 && result.error.contains("--set note is given twice"), "\(result)")
    }

    /// What was done cannot be done again, so the output does not decide the exit code.
    @Test(arguments: [["update", "Order", "--all", "--set", "number = number + 1", "--json"], ["erase", "--json"], ["erase"]])
    func workThatIsDoneIsNoFailure(_ arguments: [String]) throws {
        let process = Program.process([arguments[0], store] + arguments.dropFirst() + ["--yes"]), error = Pipe()
        process.standardOutput = FileHandle(forWritingAtPath: "/dev/full")
        process.standardError = error
        try process.run()
        let text = String(decoding: error.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0 && text.contains("the output cannot be written"), "\(text)")
        #expect(text.contains(arguments[0] == "erase" ? "shop.db" : "\"objects\":3"), "\(text)")
    }
}
