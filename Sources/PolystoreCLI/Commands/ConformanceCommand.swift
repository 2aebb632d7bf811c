internal import ArgumentParser

/// `polystore conformance`, which runs the program `polystore-conformance`.
struct ConformanceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "conformance", abstract: "Tests a kind of store against the contract that every store keeps.",
        discussion: """
            The suite makes a scratch store for each case and removes it: sqlite: and lmdb: use a temporary folder, or one in the folder that the \
            URL names; a PostgreSQL URL gets a schema with a random name. No existing store is used.

            The suite is the program polystore-conformance, which is looked for beside this program and in PATH. It has more options: \
            polystore-conformance --help. Exit codes: 0 no case failed; 1 a case failed; 2 a store could not be made.
            """)

    /// The form of a report.
    enum Report: String, ExpressibleByArgument, CaseIterable {
        case text, json, junit
    }

    @Argument(help: "The URLs of the stores to test.", completion: ShellCompletion.store)
    var stores: [String]

    @Option(parsing: .unconditionalSingleValue, help: "Only cases whose name matches, such as 'P0*'; can be repeated.")
    var only: [String] = []

    @Flag(help: "List the cases and run none.")
    var list = false

    @Option(help: "The form of the report.")
    var report = Report.text

    @Flag(help: "Print the report as JSON.")
    var json = false

    func validate() throws {
        if json, report == .junit { throw ValidationError("--json and --report junit exclude each other") }
        if list, json || report != .text { throw ValidationError("--list prints the names of the cases, without --json and --report") }
    }

    func run() throws {
        let program = SiblingProgram(
            name: "polystore-conformance",
            remedy:
                "build it with \"swift build -c release --product polystore-conformance\" in the Polystore repository, and copy it beside "
                + "polystore or into a folder of PATH")
        let names = try stores.flatMap { ["--store=\(try Stores.text(of: $0))"] }
        let form = json ? Report.json : report
        try program.run(names + only.map { "--only=\($0)" } + (list ? ["--list"] : ["--report", form.rawValue]))
    }
}
