internal import Foundation

/// A command with its arguments and subcommands, as the argument parser describes them.
struct CommandTree: Decodable {
    /// A name of an option.
    struct Name: Decodable, Hashable {
        let kind: String
        let name: String

        /// The name as it is written: `--limit` or `-o`.
        var text: String { kind == "long" ? "--\(name)" : "-\(name)" }
    }

    /// An argument, an option, or a flag.
    struct Argument: Decodable {
        enum Kind: String, Decodable {
            case positional, option, flag
        }

        let kind: Kind
        let shouldDisplay: Bool
        let isOptional: Bool
        let isRepeating: Bool
        let names: [Name]?
        let preferredName: Name?
        let valueName: String?
        let defaultValue: String?
        let allValues: [String]?
        let abstract: String?
    }

    let commandName: String
    let abstract: String?
    let discussion: String?
    let defaultSubcommand: String?
    let subcommands: [CommandTree]?
    let arguments: [Argument]?

    private struct Dump: Decodable {
        let command: CommandTree
    }

    /// Decodes a description.
    init(json: String) throws { self = try JSONDecoder().decode(Dump.self, from: Data(json.utf8)).command }

    /// Returns the subcommand of a name.
    func subcommand(_ name: String) -> CommandTree? { subcommands?.first { $0.commandName == name } }

    /// Returns the option or flag of a name such as `--limit` or `-o`.
    func option(_ name: String) -> Argument? { arguments?.first { $0.names?.contains { $0.text == name } == true } }
}
