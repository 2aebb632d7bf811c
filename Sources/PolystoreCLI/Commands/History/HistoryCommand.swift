internal import ArgumentParser

/// `polystore history`.
struct HistoryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history", abstract: "Shows, follows and purges what was committed to a store.",
        subcommands: [Show.self, Consumers.self, Purge.self], defaultSubcommand: Show.self)
}
