public import ArgumentParser
internal import Foundation
public import PolystoreCatalog
internal import PolystoreStorage
internal import PolystoreTransfer

/// The command `polystore`. A package with its own kinds of store calls `run(opener:)` from its main file.
public struct PolystoreCommand: ParsableCommand {
    /// The name, abstract, subcommands, and exit codes.
    public static let configuration = CommandConfiguration(
        commandName: "polystore",
        abstract: "Loads, inspects, queries, copies and compares Polystore stores.",
        discussion: """
            Stores are specified by URL: sqlite:shop.db, lmdb:shop.lmdb, memory:, postgresql://user@host/database; by env:VARIABLE, by @NAME, which \
            is a name of the configuration file (~/.config/polystore/config, or the file that POLYSTORE_CONFIG names), or by the path of an existing \
            file. A URL with a password is refused here, because other users can read the list of processes.

            Databases of other programs are opened for reading only with an option of the URL: sqlite:FILE?catalog=foreign, \
            postgresql://…?x-catalog=foreign&x-schema=public, sqlite:FILE?catalog=coredata&model=X.xcdatamodeld.

            Exit codes: 0 success; 1 a negative result (stores or models differ, steps are required, a plan would be refused); 2 an error; 3 \
            success, but records or rows were left out, or references to missing objects were skipped; 5 refused for safety (the target is not empty \
            or has another schema, data would be lost, no migration path to the model, no confirmation); 64 wrong usage; 130 interrupted, 143 by SIGTERM.
            """,
        version: ReleaseVersion.text,
        subcommands: [
            LoadCommand.self, InfoCommand.self, BrowseCommand.self, QueryCommand.self, PromptCommand.self, ExplainCommand.self,
            AdviseCommand.self,
            SQLCommand.self, UpdateCommand.self, DeleteCommand.self,
            TransferCommand.self, VerifyCommand.self, DiffCommand.self, JobsCommand.self,
            DumpCommand.self, RestoreCommand.self, BackupCommand.self, CheckCommand.self, CompactCommand.self, EraseCommand.self,
            HistoryCommand.self, ModelCommand.self, SchemaCommand.self,
            BenchCommand.self, ConformanceCommand.self, ManualCommand.self, DemoCommand.self,
        ])

    /// Creates a command without arguments.
    public init() {}

    /// Runs the command line with the kinds of store that an opener supports.
    public static func run(opener: StoreCatalog = .standard) {
        StandardStreams.reserve()
        // If the reader of a pipe exits, writing fails with an error, which ends the command in an orderly way.
        signal(SIGPIPE, SIG_IGN)
        // So does writing beyond the limit of the size of files.
        signal(SIGXFSZ, SIG_IGN)
        do {
            try Stores.$catalog.withValue(opener) {
                let arguments = Array(CommandLine.arguments.dropFirst())
                // A shell asks for completions with a word that no command has.
                if arguments.first?.hasPrefix("---") != true { try ArgumentRules.check(arguments, tree) }
                var command = try parseAsRoot(arguments)
                try command.run()
            }
        } catch {
            Failure.end(error)
        }
    }

    /// Returns the description of all commands.
    static func tree() throws -> CommandTree { try CommandTree(json: _dumpHelp()) }
}
