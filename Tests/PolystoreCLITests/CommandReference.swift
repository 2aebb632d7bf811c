/// The article of the commands with their arguments and options, in Markdown.
struct CommandReference {
    private var lines: [String] = []

    /// Creates the article from what `--experimental-dump-help` prints.
    init(_ dump: JSONValue) {
        guard let command = dump["command"] else { return }
        let commands = Self.subcommands(command)
        lines = [
            "# Command Reference", "", "The arguments and options of each command of `polystore`.", "", "## Overview", "",
            "`polystore help COMMAND` prints the same, and `polystore manual` makes manual pages of it. <doc:CommandLine> describes what the commands are for.",
            "Each command also has the options `-h`, `--help` and `--version`.", "",
            "<!-- The tests write this article from the declarations of the commands: CommandReferenceTests.swift says how. -->", "",
            commands.map { Self.link(["polystore"] + [$0["commandName"]?.text ?? ""]) }.joined(separator: " · "), "",
        ]
        lines += Self.paragraphs(command["discussion"]?.text ?? "")
        for command in commands { add(command, ["polystore"]) }
    }

    /// The text of the article.
    var text: String { lines.joined(separator: "\n") }

    private mutating func add(_ command: JSONValue, _ parents: [String]) {
        let words = parents + [command["commandName"]?.text ?? ""], commands = Self.subcommands(command)
        let arguments = (command["arguments"]?.items ?? []).filter { $0["shouldDisplay"] != .bool(false) && !Self.isCommon($0) }
        lines += [String(repeating: "#", count: words.count) + " " + words.joined(separator: " "), ""]
        lines += Self.paragraphs(command["abstract"]?.text ?? "")
        let next = commands.isEmpty ? [] : [command["defaultSubcommand"] == nil ? "<command>" : "[<command>]"]
        lines += ["```text", (words + Self.usage(arguments) + next).joined(separator: " "), "```", ""]
        lines += Self.paragraphs(command["discussion"]?.text ?? "")
        if !commands.isEmpty {
            let usual = command["defaultSubcommand"]?.text.map { " Without a name it is `\($0)`." } ?? ""
            lines += [
                "Commands: " + commands.map { Self.link(words + [$0["commandName"]?.text ?? ""]) }.joined(separator: " · ") + "." + usual,
                "",
            ]
        }
        if !arguments.isEmpty { lines += ["| argument or option | meaning |", "|---|---|"] + arguments.map(Self.row) + [""] }
        for command in commands { add(command, words) }
    }

    private static func subcommands(_ command: JSONValue) -> [JSONValue] {
        (command["subcommands"]?.items ?? []).filter { $0["commandName"] != .string("help") && $0["shouldDisplay"] != .bool(false) }
    }

    private static func isCommon(_ argument: JSONValue) -> Bool {
        ["help", "version"].contains(argument["preferredName"]?["name"]?.text)
    }

    /// A link to the section of a command.
    private static func link(_ words: [String]) -> String {
        "[\(words.dropFirst().joined(separator: " "))](#\(words.joined(separator: "-")))"
    }

    // Options that can be left out are one word, as in the help of a command with many of them.
    private static func usage(_ arguments: [JSONValue]) -> [String] {
        let positional = arguments.filter { $0["kind"] == .string("positional") }, options = arguments.filter { !positional.contains($0) }
        let optional = options.contains { $0["isOptional"] == .bool(true) } ? ["[<options>]"] : []
        let required = options.filter { $0["isOptional"] == .bool(false) }.map(spelling)
        return optional + required
            + positional.map { argument in
                let name = spelling(argument) + (argument["isRepeating"] == .bool(true) ? " ..." : "")
                return argument["isOptional"] == .bool(true) ? "[\(name)]" : name
            }
    }

    /// An argument as it is typed: `<store>`, `--limit <limit>` or `--quiet`.
    private static func spelling(_ argument: JSONValue) -> String {
        let value = "<\(argument["valueName"]?.text ?? "")>"
        switch argument["kind"]?.text {
        case "positional": return value
        case "option": return "\(name(argument["preferredName"])) \(value)"
        default: return name(argument["preferredName"])
        }
    }

    /// The name of an option: `--limit` or `-o`.
    private static func name(_ name: JSONValue?) -> String { (name?["kind"] == .string("long") ? "--" : "-") + (name?["name"]?.text ?? "") }

    private static func row(_ argument: JSONValue) -> String {
        let names = [spelling(argument)] + (argument["names"]?.items ?? []).filter { $0 != argument["preferredName"] }.map(name)
        let abstract = argument["abstract"]?.text ?? "", values = (argument["allValues"]?.items ?? []).compactMap(\.text)
        var meaning = [HelpText.markdown(abstract)]
        if !values.allSatisfy(abstract.contains) { meaning.append("Values: " + values.map { "`\($0)`" }.joined(separator: ", ") + ".") }
        if let usual = argument["defaultValue"]?.text { meaning.append("Default: `\(usual)`.") }
        let cells = [names.map { "`\($0)`" }.joined(separator: ", "), meaning.joined(separator: " ")]
        return "| " + cells.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ") + " |"
    }

    private static func paragraphs(_ text: String) -> [String] {
        text.split(separator: "\n\n").map(String.init).flatMap { paragraph -> [String] in
            // Commands at the end of a paragraph are those that readers copy.
            guard let start = paragraph.ranges(of: ": polystore ").last?.lowerBound, !paragraph[start...].contains(". ") else {
                return [HelpText.markdown(paragraph.replacing("\n", with: " ")), ""]
            }
            let commands = paragraph[start...].dropFirst(2).split(separator: "\n").map { String($0.trimmingPrefix(while: \.isWhitespace)) }
            return [HelpText.markdown(String(paragraph[...start])), "", "```bash"] + commands + ["```", ""]
        }
    }
}

/// The text of a help as Markdown: what is typed is code, and nothing else has a meaning.
enum HelpText {
    static func markdown(_ text: String) -> String {
        // An apostrophe; an option with its value, a quoted value, an object or a member in JSON, the URL or a name of a store, a path, a variable.
        let parts =
            #/
            (\w'\w?) | --[a-z][a-z\-]*(\ '[^']*')? | '[^']*' | \{.*\} | "[^"]*"(:\ ("[^"]*"|\["[^"]*"\]))?
            | (sqlite|lmdb|postgresql|memory|env):[^\s,;)]* | @[A-Z]+ | ~/[\w.\/\-]+ | \w*_\w+
            /#
        var result = "", end = text.startIndex
        for match in text.matches(of: parts) {
            result += escaped(text[end..<match.range.lowerBound])
            // A mark at the end of a sentence is none of a path or a URL.
            let code = match.0.last == "." ? match.0.dropLast() : match.0
            result += match.1 == nil ? "`\(code)`" : String(code)
            result += text[code.endIndex..<match.range.upperBound]
            end = match.range.upperBound
        }
        return result + escaped(text[end...])
    }

    /// A text without marks that Markdown would read, or replace by typographical ones.
    private static func escaped(_ text: Substring) -> String { String(text).replacing(#/[\\`*_<>\[\]~"'#]/#) { "\\\($0.0)" } }
}
