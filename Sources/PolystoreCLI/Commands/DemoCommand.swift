internal import ArgumentParser

/// `polystore demo`.
struct DemoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo", abstract: "Loads a week of flights, queries it, and copies it from store to store.")

    @Option(help: "The URL of a PostgreSQL database to which the flights are also copied, and back.")
    var postgres: String?

    func run() throws { try Demo(postgres: postgres).run() }
}
