internal import ArgumentParser
internal import PolystoreStorage
internal import PolystoreTransfer

/// `polystore check`.
struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Checks a store as a whole for damage; the exit code is 1 if anything is found.",
        discussion: """
            Rows are decoded; references and members of relationships must exist; both ends of a relationship, and each index, must agree with \
            the rows; required attributes must not be nil; the history must be readable. Nothing is changed.
            """)

    @Argument(help: "The store to check, as a URL.")
    var store: String

    @Option(help: "The maximum number of findings to print.")
    var limit = 100

    @Flag(help: "Print JSON, one finding per line.")
    var json = false

    func validate() throws { if limit < 1 { throw ValidationError("--limit must be at least 1") } }

    func run() throws {
        let opened = try Stores.open(store)
        defer { opened.close() }
        Interruption.watch()
        var count = 0
        try TransferEngine(limit: Interruption.limit).check(opened.store) { finding throws(StorageError) in
            count += 1
            if count <= limit { Console.print(json ? Self.json(finding) : finding.description) }
        }
        if count > limit, !json { Console.print("and \(count - limit) more findings") }
        if count > 0 { throw Failure.differs }
        if !json { Console.print("nothing was found") }
    }

    private static func json(_ finding: CheckFinding) -> String {
        JSONText.object([
            ("table", JSONText.string(finding.table)), ("key", finding.key.map(String.init) ?? "null"),
            ("property", JSONText.string(finding.property)), ("finding", JSONText.string(finding.sentence)),
        ])
    }
}
