import Foundation
import Testing

/// The description of the output with `--json`, compared with the output of the commands.
@Suite struct OutputSchemaTests {
    private let program: Program
    private let schema: JSONSchema
    private var folder: URL { program.folder }
    private let described = Described()
    private static let server = ProcessInfo.processInfo.environment["POLYSTORE_TEST_POSTGRES"]

    /// The names of the definitions with which outputs were compared.
    private final class Described {
        var names: Set<String> = []
    }

    init() throws {
        program = try Program()
        schema = try JSONSchema(program.run(["manual", "--json-schema"]).output)
    }

    /// Runs a command with `--json`, and compares its output with a definition.
    @discardableResult
    private func check(
        _ name: String, _ arguments: [String], code: Int32 = 0, isLines: Bool = false, sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> String {
        described.names.insert(name)
        let result = try program.run(arguments + ["--json"])
        #expect(result.code == code, "\(arguments): \(result)", sourceLocation: sourceLocation)
        let texts = isLines ? result.output.split(separator: "\n").map(String.init) : [result.output]
        #expect(!texts.isEmpty, sourceLocation: sourceLocation)
        for text in texts { #expect(try schema.fault(in: text, name) == nil, "\(text)", sourceLocation: sourceLocation) }
        return result.output
    }

    private func model(_ version: String, _ more: String = "") throws -> String {
        try program.file(
            "model-\(version).json",
            """
            {"version": "\(version)", "entities": [{"name": "Note", "attributes": [{"name": "text", "type": "string"}, \
            {"name": "n", "type": "int64", "optional": true}\(more)], "relationships": [{"name": "up", "to": "Note", "inverse": "downs"}, \
            {"name": "downs", "to": "Note", "kind": "toMany", "inverse": "up"}]}]}
            """)
    }

    @Test func outputsAreAsDescribed() throws {
        let first = try model("1"), second = try model("2", #", {"name": "stars", "type": "int64", "default": 3}"#)
        let store = "sqlite:\(folder.path)/a.db", copy = "sqlite:\(folder.path)/b.db"
        let csv = try program.file("a.csv", "text,up\na,\nb,a\nc,x\n")
        let mapping = try program.file(
            "load.json", #"{"files": [{"file": "a.csv", "entity": "Note", "relationships": {"up": {"text": "up"}}}]}"#)
        try check("load", ["load", store, "--mapping", mapping, "--model", first], code: 3)
        try check("load", ["load", store, csv, "--entity", "Note", "--ignore-unknown", "--on", "text"])
        try check("info", ["info", store])
        try check("explain", ["explain", store, "Note", "--where", "n > 1", "--order-by", "-text"])
        try check("explain", ["explain", store, "Note", "--analyze"])
        let requests = try program.file("requests", #"{"entity": "Note", "where": "n == 5", "orderBy": ["text"]}"# + "\n")
        try check("advise", ["advise", store, "--requests", requests])
        try check("advise", ["advise", store, "--requests", requests, "--try", "sqlite:"])
        try check("transfer", ["transfer", store, copy, "--plan", "--type", "Note.n=double"])
        try check("transfer", ["transfer", store, "sqlite:\(folder.path)/plain.db", "--plan", "--layout", "plain"])
        try check("transfer", ["transfer", store, copy])
        try check("transfer", ["transfer", store, "sqlite:\(folder.path)/history.db", "--history"])
        try check("verify", ["verify", store, copy], isLines: true)
        try check("update", ["update", store, "Note", "--where", "text == 'a'", "--set", "n = 5", "--yes"])
        try check("delete", ["delete", copy, "Note", "--where", "text == 'c'", "--yes"])
        try check("diff", ["diff", store, copy], code: 1, isLines: true)
        try check("verify", ["verify", store, copy, "--rows"], code: 1, isLines: true)
        try check("history", ["history", store], isLines: true)
        try check("history-show", ["history", "show", copy], isLines: true)
        #expect(try program.run(["history", store, "--consumer", "index", "--json"]).code == 0)
        try check("history-consumers", ["history", "consumers", store], isLines: true)
        try check("history-purge", ["history", "purge", store, "--acknowledged"])
        try check("backup", ["backup", store, "\(folder.path)/backup.db"])
        try check("compact", ["compact", store])
        let archive = "\(folder.path)/a.ndjson"
        #expect(try program.run(["dump", store, "-o", archive]).code == 0)
        try check("restore", ["restore", archive, "lmdb:\(folder.path)/r.lmdb"])
        try check("jobs", ["jobs", store])
        try check("schema-status", ["schema", "status", store, "--model", second], code: 1)
        try check("schema-plan", ["schema", "plan", store, "--model", second])
        try check("schema-apply", ["schema", "apply", store, "--model", second, "--yes"])
        try check("schema-history", ["schema", "history", store])
        try check("schema-revert", ["schema", "revert", store, "--accept-loss", "Note.stars", "--yes"])
        try check("schema-stamp", ["schema", "stamp", store, "--version", "old"])
        try check("schema-diff", ["schema", "diff", first, second], code: 1)
        try check("model-diff", ["model", "diff", first, first])
        try check("schema-lock", ["schema", "lock", first])
        try check("bench", ["bench", "memory:", "--objects", "10"])
        try program.sqlite3("b.db", "UPDATE Note SET up = 99 WHERE _id = 1")
        try check("check", ["check", copy], code: 1, isLines: true)
        try check("erase", ["erase", copy, "--yes"])
        // The steps of an online migration need a server, and the suite has the report of its own program.
        let others = ["schema-expand", "schema-backfill", "schema-contract", "schema-abandon", "conformance"]
        #expect(Set(try commands()).subtracting(described.names).symmetricDifference(others) == [])
    }

    @Test func outputsOfLiveTransfersAreAsDescribed() throws {
        let first = try model("1"), store = "sqlite:\(folder.path)/a.db", csv = try program.file("a.csv", "text\na\n")
        #expect(try program.run(["load", store, csv, "--entity", "Note", "--model", first, "-q"]).code == 0)
        try check("transfer", ["transfer", store, "lmdb:\(folder.path)/b.lmdb", "--live", "--release"])
        try check("transfer", ["transfer", store, "lmdb:\(folder.path)/b.lmdb", "--live", "--cut-over", "-q"])
        try check("jobs", ["jobs", store])
    }

    @Test(.enabled(if: server != nil)) func outputsOfOnlineMigrationsAreAsDescribed() throws {
        let first = try model("1"), second = try model("2", #", {"name": "stars", "type": "int64", "default": 3}"#)
        let server = try #require(Self.server), schema = "output_\(UUID().uuidString.prefix(8).lowercased())"
        let store = "\(server)\(server.contains("?") ? "&" : "?")x-schema=\(schema)", csv = try program.file("a.csv", "text\na\n")
        #expect(try program.run(["load", store, csv, "--entity", "Note", "--model", first, "-q"]).code == 0)
        try check("schema-expand", ["schema", "expand", store, "--model", second, "--dry-run"])
        try check("schema-expand", ["schema", "expand", store, "--model", second])
        try check("schema-status", ["schema", "status", store])
        try check("jobs", ["jobs", store])
        try check("schema-abandon", ["schema", "abandon", store, "--yes"])
        try check("schema-expand", ["schema", "expand", store, "--model", second])
        try check("schema-backfill", ["schema", "backfill", store])
        try check("schema-contract", ["schema", "contract", store, "--yes"])
        try check("erase", ["erase", store, "--yes"])
    }

    /// Returns the names of the definitions of all commands with the option.
    private func commands() throws -> [String] {
        let dump = try JSONValue(program.run(["--experimental-dump-help"]).output)
        func commands(_ command: JSONValue, _ path: [String]) -> [String] {
            if let subcommands = command["subcommands"]?.items {
                return subcommands.flatMap { commands($0, path + [$0["commandName"]?.text ?? ""]) }
            }
            let hasOption = command["arguments"]?.items.contains { $0["preferredName"]?["name"]?.text == "json" } == true
            return hasOption ? [path.joined(separator: "-")] : []
        }
        return commands(try #require(dump["command"]), [])
    }

    @Test func eachCommandWithTheOptionIsDescribed() throws {
        let names = try commands()
        #expect(names.count > 25)
        // The report of the suite is that of the program polystore-conformance.
        #expect(names.filter { !schema.names.contains($0) } == ["conformance"])
    }
}
