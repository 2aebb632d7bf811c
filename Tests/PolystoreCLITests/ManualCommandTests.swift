import Foundation
import Testing

/// `polystore manual` and the completions of shells.
@Suite struct ManualCommandTests {
    private let program: Program
    private let store: String

    init() throws {
        program = try Program()
        store = "sqlite:\(program.folder.path)/notes.db"
        let csv = try program.file("notes.csv", "text,title\na,b\n")
        #expect(try program.run(["load", store, csv, "--infer", "--entity", "Note", "-q"]).code == 0)
    }

    private func run(_ arguments: String...) throws -> (code: Int32, output: String, error: String) { try program.run(arguments) }

    @Test func everyCommandHasAPageWithItsOptions() throws {
        let folder = program.folder.appendingPathComponent("man")
        #expect(try run("manual", "--folder", folder.path).code == 0)
        let dump = try JSONValue(run("--experimental-dump-help").output)
        func check(_ command: JSONValue, _ path: [String]) throws {
            let page = try String(contentsOf: folder.appendingPathComponent("\(path.joined(separator: "-")).1"), encoding: .utf8)
            for argument in command["arguments"]?.items ?? [] {
                let name = argument["preferredName"]?["name"]?.text ?? argument["valueName"]?.text ?? ""
                #expect(page.contains(name.replacing("-", with: "\\-")), "\(path): \(name)")
                #expect(argument["abstract"]?.text?.isEmpty == false, "\(path): \(name) has no description")
            }
            #expect(page.split(separator: "\n").allSatisfy { !$0.hasPrefix(".") || $0.wholeMatch(of: /\.[A-Z][a-z]( .*)?/) != nil })
            for next in command["subcommands"]?.items ?? [] where next["commandName"]?.text != "help" {
                try check(next, path + [next["commandName"]?.text ?? ""])
            }
        }
        try check(try #require(dump["command"]), ["polystore"])
        #expect(try run("manual", "schema", "apply").output.hasPrefix(".Dd "))
        #expect(try run("manual", "schema", "aply").error.contains("did you mean \"apply\"?"))
    }

    /// Returns what a shell is offered for the last word.
    private func completions(_ command: String, _ argument: String, _ words: [String], in folder: URL? = nil) throws -> [String] {
        let process = Program.process(
            ["---completion", command, "--", argument, "\(words.count)", "\(words.last?.count ?? 0)", "polystore"] + words)
        let output = Pipe()
        process.standardOutput = output
        process.currentDirectoryURL = folder ?? program.folder
        process.environment = ProcessInfo.processInfo.environment.merging(["POLYSTORE_CONFIG": "\(program.folder.path)/config"]) { $1 }
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return text.split(separator: "\n").map(String.init)
    }

    @Test func storesEntitiesAndPropertiesAreCompleted() throws {
        _ = try program.file("config", "[stores]\nshop = memory:\n")
        #expect(try completions("info", "positional@0", ["info", "no"]) == ["notes.db"])
        #expect(try completions("info", "positional@0", ["info", "sqlite:n"]) == ["sqlite:notes.db"])
        #expect(try completions("info", "positional@0", ["info", "lmdb:n"]) == [])
        #expect(try completions("info", "positional@0", ["info", "@"]) == ["@shop"])
        #expect(try completions("info", "positional@0", ["info", "sq"]) == ["sqlite:"])
        #expect(try completions("query", "positional@1", ["query", store, "N"]) == ["Note"])
        #expect(try completions("query", "--where", ["query", store, "Note", "--where", "te"]) == ["text"])
        #expect(try completions("query", "--order-by", ["query", store, "Note", "--order-by", "-t"]) == ["-text", "-title"])
        #expect(try completions("transfer", "--only", ["transfer", store, "memory:", "--only", ""]) == ["Note"])
        #expect(try completions("query", "positional@1", ["query", "sqlite:/nonexistent", ""]) == [])
        for shell in ["bash", "zsh", "fish"] { #expect(try run("--generate-completion-script", shell).output.contains("---completion")) }
    }
}
