/// The manual page of a command in the language of man pages, mdoc.
struct ManualPage {
    private let command: CommandTree
    private let words: [String]

    /// - Parameter path: The names of the command and its parents, without the program.
    init(_ command: CommandTree, path: [String]) {
        self.command = command
        words = ["polystore"] + path
    }

    /// The name of the page: `polystore-schema-apply`.
    var name: String { words.joined(separator: "-") }

    /// The page.
    var text: String {
        let arguments = (command.arguments ?? []).filter(\.shouldDisplay)
        var lines = [".Dd \(Self.date)", ".Dt \(name.uppercased()) 1", ".Os", ".Sh NAME", ".Nm \(Self.escaped(name))"]
        lines.append(".Nd \(Self.escaped(command.abstract ?? ""))")
        lines += [".Sh SYNOPSIS", ".Nm \(Self.escaped(words.joined(separator: " ")))"]
        lines += arguments.map(Self.synopsis)
        let commands = (command.subcommands ?? []).filter { $0.commandName != "help" }
        if !commands.isEmpty { lines += [".Ar command", ".Op Ar arguments"] }
        lines.append(".Sh DESCRIPTION")
        for paragraph in (command.discussion ?? command.abstract ?? "").split(separator: "\n\n") {
            lines += [".Pp", Self.escaped(paragraph.replacing("\n", with: " "))]
        }
        if !arguments.isEmpty { lines += [".Bl -tag -width indent"] + arguments.flatMap(Self.item) + [".El"] }
        if !commands.isEmpty {
            lines += [".Sh COMMANDS", ".Bl -tag -width indent"]
            for next in commands { lines += [".It Cm \(Self.escaped(next.commandName))", Self.escaped(next.abstract ?? "")] }
            lines.append(".El")
        }
        let others = commands.map { name + "-" + $0.commandName } + (words.count > 1 ? [words.dropLast().joined(separator: "-")] : [])
        if !others.isEmpty { lines += [".Sh SEE ALSO"] + others.map { ".Xr \(Self.escaped($0)) 1" } }
        return lines.joined(separator: "\n")
    }

    // The date of the version: that of the build would make pages differ that say the same.
    private static let date = "November 1, 2026"

    private static func synopsis(_ argument: CommandTree.Argument) -> String {
        let repeats = argument.isRepeating ? " ..." : ""
        switch argument.kind {
        case .positional:
            let name = "Ar \(escaped(argument.valueName ?? ""))\(repeats)"
            return argument.isOptional ? ".Op \(name)" : ".\(name)"
        case .option: return ".Op Fl \(flag(argument.preferredName)) Ar \(quoted(argument.valueName ?? ""))\(repeats)"
        case .flag: return ".Op Fl \(flag(argument.preferredName))"
        }
    }

    private static func item(_ argument: CommandTree.Argument) -> [String] {
        let head: String
        switch argument.kind {
        case .positional: head = ".It Ar \(escaped(argument.valueName ?? ""))"
        case .option: head = ".It " + names(argument) + " Ar \(quoted(argument.valueName ?? ""))"
        case .flag: head = ".It " + names(argument)
        }
        let usual = argument.defaultValue.map { " The default is \($0)." } ?? ""
        return [head, escaped((argument.abstract ?? "") + usual)]
    }

    private static func names(_ argument: CommandTree.Argument) -> String {
        (argument.names ?? []).map { "Fl \(flag($0))" }.joined(separator: " , ")
    }

    /// The name of an option after the first minus sign, which `Fl` adds.
    private static func flag(_ name: CommandTree.Name?) -> String { escaped(String((name?.text ?? "").dropFirst())) }

    private static func quoted(_ text: String) -> String { "\"\(escaped(text).replacing("\"", with: "\\(dq"))\"" }

    /// Returns a text without the characters that mdoc would interpret.
    private static func escaped(_ text: some StringProtocol) -> String {
        let text = String(text).replacing("\\", with: "\\e").replacing("-", with: "\\-")
        // A line that begins with one of these is a request.
        return text.hasPrefix(".") || text.hasPrefix("'") ? "\\&" + text : text
    }
}
