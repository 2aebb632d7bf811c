internal import ArgumentParser
internal import PolystoreStorage
internal import PolystoreTransfer

/// `polystore verify`.
struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Compares two stores by counts and digests; the exit code is 1 if they differ.")

    @Argument(help: "The first store, as a URL.", completion: ShellCompletion.store)
    var first: String

    @Argument(help: "The second store, as a URL.", completion: ShellCompletion.store)
    var second: String

    @Flag(help: "Name the objects and properties that differ; the stores must have the same model.")
    var rows = false

    @Option(parsing: .unconditional, help: "The maximum number of objects to name, with --rows.")
    var limit: Int?

    @Flag(help: "Also compare the transactions of the histories: their times, authors and changes.")
    var history = false

    @Flag(help: "Print JSON.")
    var json = false

    @Flag(name: .shortAndLong, help: "Do not show progress.")
    var quiet = false

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit must be at least 1") }
        if limit != nil, !rows { throw ValidationError("--limit is the number of objects that --rows names") }
    }

    func run() throws {
        let a = try Stores.open(first, isScanned: true)
        defer { a.close() }
        let b = try Stores.open(second, isScanned: true)
        defer { b.close() }
        for store in [a, b] { store.noteLosses() }
        try a.check()
        try b.check()
        Interruption.watch()
        let engine = TransferEngine(limit: Interruption.limit)
        let items = try ProgressLine.follow(isQuiet: quiet) { report throws(StorageError) in
            try engine.verify(a.store, b.store, includesHistory: history, report: report)
        }
        for item in items { Console.print(json ? VerifyCommand.json(item) : VerifyCommand.line(item)) }
        let differing = items.filter { !$0.isSame }.map(\.name)
        if differing.isEmpty {
            if !json { Console.print("the stores are equal") }
            return
        }
        if !json { Console.print("the stores differ in \(differing.joined(separator: ", "))") }
        if rows { _ = try DifferenceList(limit: limit, isJSON: json, isQuiet: quiet).show(a, b) }
        throw Failure.differs
    }

    static func line(_ item: VerifyItem) -> String {
        let first = item.first.map { "\($0.count) \($0.description.prefix(8))…" } ?? "missing"
        let second = item.second.map { "\($0.count) \($0.description.prefix(8))…" } ?? "missing"
        return
            "  \(item.name.padding(24)) \(first.padding(20)) \(item.isSame ? "=" : "≠") \(second.padding(20)) \(item.isSame ? TextColor.green("same") : TextColor.red("DIFFERS"))"
    }

    private static func json(_ item: VerifyItem) -> String {
        func text(_ digest: Digest?) -> String { digest.map { "{\"count\":\($0.count),\"digest\":\"\($0)\"}" } ?? "null" }
        return
            "{\"name\":\(JSONWriter.quoted(item.name)),\"first\":\(text(item.first)),\"second\":\(text(item.second)),\"same\":\(item.isSame)}"
    }
}
