import Foundation
import Testing

/// `polystore transfer --history`, through the built program.
@Suite struct HistoryTransferCommandTests {
    private let program: Program
    private let store: String

    /// A store of notes with two transactions.
    init() throws {
        program = try Program()
        store = "sqlite:\(program.folder.path)/notes.db"
        let model = try program.file(
            "model.json", #"{"entities": [{"name": "Note", "attributes": [{"name": "text", "type": "string"}]}]}"#)
        let notes = try program.file("notes.csv", "text\na\nb\n")
        #expect(try program.run(["load", store, notes, "--entity", "Note", "--model", model]).code == 0)
        try change("text = uppercase(text)")
        #expect(try program.run(["delete", store, "Note", "--where", "text == 'A'", "--yes"]).code == 0)
    }

    private func path(_ name: String) -> String { program.folder.appendingPathComponent(name).path }

    private func change(_ assignment: String) throws {
        #expect(try program.run(["update", store, "Note", "--all", "--set", assignment, "--yes"]).code == 0)
    }

    private func transfer(_ target: String, _ options: String...) throws -> (code: Int32, output: String, error: String) {
        try program.run(["transfer", store, target] + options)
    }

    /// Returns what `history` prints without the tokens.
    private func history(_ store: String) throws -> [String] {
        try program.run(["history", store, "--json"]).output.split(separator: "\n").map { String($0.drop { $0 != "," }) }
    }

    @Test(arguments: TransferCommandTests.kinds) func theHistoryIsPlannedCopiedAndCompared(_ kind: String) throws {
        let target = program.target(kind), original = try history(store)
        #expect(original.count == 2)
        let plan = try transfer(target, "--history", "--plan")
        #expect(plan.code == 0 && plan.output.contains("note: 2 transactions of the history would be copied"), "\(plan)")
        let copied = try transfer(target, "--history")
        #expect(copied.code == 0 && copied.error.isEmpty, "\(copied)")
        #expect(copied.output.contains("copied 1 rows of 1 tables and 2 transactions of the history"), "\(copied)")
        #expect(copied.output.contains("verified: all 1 digests and that of the history are equal"), "\(copied)")
        #expect(try history(target) == original)
        let again = try transfer(target, "--history", "--json")
        #expect(again.code == 0 && again.output.contains(#""wasComplete":true"#) && again.output.contains(#""history":{"count":2,"#))
        #expect(try transfer(target).code == 5)
        let equal = try program.run(["verify", store, target, "--history"])
        #expect(equal.code == 0 && equal.output.contains("polystore_history"), "\(equal)")
        try change("text = text")
        try change("text = lowercase(text)")
        try change("text = uppercase(text)")
        let differs = try program.run(["verify", store, target, "--history"])
        #expect(differs.code == 1 && differs.output.contains("the stores differ in polystore_history"), "\(differs)")
        #expect(try program.run(["verify", store, target]).code == 0)
        #expect(try program.run(["check", target]).code == 0)
        #expect(try program.run(["erase", target, "--yes"]).code == 0)
    }

    @Test(arguments: TransferCommandTests.kinds) func aKilledTransferHasEachTransactionOnce(_ kind: String) throws {
        for turn in 0..<6 { try change("text = '\(turn)'") }
        // Each transaction is a part of its own.
        let target = program.target(kind), command = ["transfer", store, target, "--history", "--rate", "8", "-q"]
        for milliseconds in [200, 400, 600, 800] {
            try Program.runUntilKilled(command, after: milliseconds)
        }
        let finished = try transfer(target, "--history", "--rate", "1000")
        #expect(finished.code == 0, "\(finished)")
        #expect(try history(target) == history(store) && history(store).count == 8)
        #expect(try program.run(["verify", store, target, "--history"]).code == 0)
        #expect(try program.run(["erase", target, "--yes"]).code == 0)
    }

    @Test func aHistoryThatCannotBeCopiedIsLeftOutOrRefused() throws {
        let off = "lmdb:\(path("off.lmdb"))?history=off"
        let plan = try transfer(off, "--history", "--plan")
        #expect(plan.code == 0 && plan.output.contains("note: the history would be left out, because the target keeps none"), "\(plan)")
        let copied = try transfer(off, "--history")
        #expect(copied.code == 0 && copied.output.contains("note: the history was left out, because the target keeps none"), "\(copied)")
        try program.sqlite3("foreign.db", "CREATE TABLE t(id INTEGER PRIMARY KEY); INSERT INTO t VALUES(1)")
        let foreign = try program.run(["transfer", "sqlite:\(path("foreign.db"))?catalog=foreign", "sqlite:\(path("t.db"))", "--history"])
        #expect(foreign.code == 0 && foreign.output.contains("because the source keeps none"), "\(foreign)")
        // An empty target with transactions of its own.
        let own = "sqlite:\(path("own.db"))"
        #expect(try transfer(own, "-q").code == 0)
        #expect(try program.run(["delete", own, "Note", "--all", "--yes"]).code == 0)
        let refused = try transfer(own, "--history", "--plan")
        #expect(refused.code == 1 && refused.output.contains("a history of its own"), "\(refused)")
        #expect(try transfer(own, "--history").code == 5)
        for options in [
            ["--only", "Note"], ["--where", "Note: text == 'B'"], ["--rename", "Note=Text"], ["--type", "Note.text=data"],
            ["--if-exists", "merge"], ["--on-error", "skip", "--rejects", "r"], ["--live"], ["--layout", "plain"],
        ] {
            let wrong = try program.run(["transfer", store, "sqlite:\(path("n.db"))", "--history"] + options)
            #expect(wrong.code == 64, "\(options): \(wrong)")
        }
        #expect(!FileManager.default.fileExists(atPath: path("n.db")))
    }
}
