internal import ArgumentParser

/// `polystore demo`.
struct DemoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo", abstract: "Loads a week of flights, queries it, and moves it from store to store.")

    @Option(help: "Also move the flights through this PostgreSQL database and back.")
    var postgres: String?

    func run() throws { try Demo(postgres: postgres).run() }
}
