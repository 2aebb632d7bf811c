internal import ArgumentParser

/// `polystore browse`, which runs the program `polystore-browse`.
struct BrowseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "browse", abstract: "Shows a store in a web browser on this machine, without changing it.",
        discussion: """
            The pages are served by the program polystore-browse, which is a package of its own in the folder Sources/Browse of the repository; it is \
            looked for beside this program and in PATH.

            The address that is printed works once, in one browser. The server listens on 127.0.0.1 only; Control-C ends it.
            """)

    @Argument(help: "The store to read, as a URL.", completion: ShellCompletion.store)
    var store: String

    @Option(parsing: .unconditional, help: "The port to listen on, instead of any free one.")
    var port: Int?

    @Flag(help: "Open the address in the web browser of the system.")
    var open = false

    private static let program = SiblingProgram(
        name: "polystore-browse",
        remedy:
            "build it with \"swift build -c release\" in the folder Sources/Browse of the Polystore repository, and copy it beside polystore or "
            + "into a folder of PATH")

    func validate() throws {
        if let port, !(0...65_535).contains(port) { throw ValidationError("--port must be from 1 to 65535") }
    }

    func run() throws {
        let options = (port.map { ["--port", String($0)] } ?? []) + (open ? ["--open"] : [])
        // A store whose name begins with a minus sign is not an option.
        try Self.program.run(options + ["--", Stores.text(of: store)])
    }
}
