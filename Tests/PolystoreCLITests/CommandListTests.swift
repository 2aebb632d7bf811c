import Foundation
import Testing

/// What follows from the list of commands elsewhere: completions and documents.
@Suite struct CommandListTests {
    private let command: JSONValue

    init() throws {
        let dump = try JSONValue(try Program().run(["--experimental-dump-help"]).output)
        command = try #require(dump["command"])
    }

    @Test func storesEntitiesPropertiesAndExpressionsAreCompleted() {
        let names: Set<String> = ["store", "first", "second", "source", "target", "entity", "select", "order-by", "group-by", "having"]
        var count = 0
        func look(_ command: JSONValue, _ path: String) {
            for argument in command["arguments"]?.items ?? [] {
                let name = argument["preferredName"]?["name"]?.text ?? argument["valueName"]?.text ?? ""
                if !names.contains(name) { continue }
                count += 1
                #expect(argument["completionKind"] != nil, "\(path) \(name)")
            }
            for subcommand in command["subcommands"]?.items ?? [] { look(subcommand, "\(path) \(subcommand["commandName"]?.text ?? "")") }
        }
        look(command, "polystore")
        #expect(count > 40)
    }

    @Test func theDocumentsListAllCommands() throws {
        let names = Set(command["subcommands"]?.items.compactMap { $0["commandName"]?.text } ?? []).subtracting(["help"])
        #expect(names.count > 20)
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        func text(_ path: String) throws -> String { try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8) }
        let rows = try text("Sources/Polystore/Polystore.docc/CommandLine.md").components(separatedBy: "| command | purpose |").last ?? ""
        let table = rows.split(separator: "\n", omittingEmptySubsequences: false).dropFirst(2).prefix { $0.hasPrefix("|") }
        let inTable = table.flatMap { row in row.split(separator: "|")[0].matches(of: #/`(\w+)`/#).map { String($0.1) } }
        #expect(Set(inTable).symmetricDifference(names) == [])
        let list = try #require(try text("README.md").firstMatch(of: #/`polystore (load [a-z |\n]+)`/#)).1
        let inReadme = list.split { $0 == "|" || $0.isWhitespace }.map(String.init)
        #expect(Set(inReadme).symmetricDifference(names) == [])
    }
}
