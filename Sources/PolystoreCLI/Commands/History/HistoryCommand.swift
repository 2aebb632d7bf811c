internal import ArgumentParser

/// `polystore history`.
struct HistoryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history", abstract: "Shows, follows and purges the history of a store.",
        subcommands: [Show.self, Consumers.self, Purge.self], defaultSubcommand: Show.self)
}
