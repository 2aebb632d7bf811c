internal import ArgumentParser
internal import PolystoreStorage
internal import PolystoreTransfer

/// `polystore diff`.
struct DiffCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Lists the objects that differ between two stores with the same model; the exit code is 1 if any does.",
        discussion: """
            Objects are matched by their primary keys. A line begins with - for an object that only the first store has, + for one that only the \
            second has, and ~ for one with different values. Versions are not compared.
            """)

    @Argument(help: "The first store, as a URL.", completion: ShellCompletion.store)
    var first: String

    @Argument(help: "The second store, as a URL.", completion: ShellCompletion.store)
    var second: String

    @Option(parsing: .unconditional, help: "The maximum number of objects to list.")
    var limit: Int?

    @Flag(help: "Print JSON, one object per line.")
    var json = false

    @Flag(name: .shortAndLong, help: "Do not show progress.")
    var quiet = false

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit must be at least 1") }
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
        if try DifferenceList(limit: limit, isJSON: json, isQuiet: quiet).show(a, b) { throw Failure.differs }
        if !json { Console.print("the stores are equal") }
    }
}
