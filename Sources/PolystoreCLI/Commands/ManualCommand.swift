internal import ArgumentParser
internal import Foundation
internal import PolystoreStorage

/// `polystore manual`.
struct ManualCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "manual", abstract: "Writes the manual pages, or the description of the JSON output.",
        discussion: """
            Without options the page of a command is printed, for man: polystore manual transfer | man -l -. --folder writes the pages of all \
            commands, as in: polystore manual --folder /usr/local/share/man/man1
            """)

    @Argument(help: "The command whose page to print, such as schema apply; by default that of polystore itself.")
    var command: [String] = []

    @Option(help: "The folder for the pages of all commands; it is created if it does not exist.", completion: .directory)
    var folder: String?

    @Flag(help: "Print the JSON Schema of the output of all commands with --json.")
    var jsonSchema = false

    func validate() throws {
        if jsonSchema, folder != nil || !command.isEmpty { throw ValidationError("--json-schema describes all commands, and is printed") }
        if folder != nil, !command.isEmpty { throw ValidationError("--folder gets the pages of all commands") }
    }

    func run() throws {
        if jsonSchema { return Console.print(OutputSchema.text) }
        let tree = try PolystoreCommand.tree()
        if let folder { return try write(tree, [], to: folder) }
        var found = tree
        for (index, name) in command.enumerated() {
            guard let next = found.subcommand(name) else {
                let names = (found.subcommands ?? []).map(\.commandName)
                throw StorageError(
                    .notFound,
                    "there is no command '\(command[...index].joined(separator: " ").excerpt())'\(Suggestion.nearest(name, in: names))")
            }
            found = next
        }
        Console.print(ManualPage(found, path: command).text)
    }

    private func write(_ command: CommandTree, _ path: [String], to folder: String) throws(StorageError) {
        do { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) } catch {
            throw StorageError(.permissionDenied, "the folder \(folder) cannot be made", cause: error)
        }
        let page = ManualPage(command, path: path), file = try AtomicFile("\(folder)/\(page.name).1")
        try file.write(Data((page.text + "\n").utf8))
        try file.finish()
        for next in command.subcommands ?? [] where next.commandName != "help" {
            try write(next, path + [next.commandName], to: folder)
        }
    }
}
