internal import ArgumentParser
internal import PolystoreStorage

/// `polystore erase`.
struct EraseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "erase", abstract: "Removes a store with all its objects, after a confirmation.",
        discussion: "Only what the store has made is removed: tables of other programs in the same database remain.")

    @Argument(help: "The store to erase, as a URL.", completion: ShellCompletion.store)
    var store: String

    @Flag(help: "Erase without asking.")
    var yes = false

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        let opened = try Stores.open(store, readOnly: false, acceptsIncompleteCopy: true)
        defer { opened.close() }
        let rows = try opened.count()
        try Question.confirm("erase \(opened.url.redacted) with \(rows) objects?", isConfirmed: yes)
        try opened.store.erase()
        let name = opened.url.redacted
        Console.report(json ? JSONText.object([("store", JSONText.string(name)), ("objects", "\(rows)")]) : "erased \(name)")
    }
}
