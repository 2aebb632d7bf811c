internal import ArgumentParser
internal import PolystoreStorage
internal import PolystoreTransfer

/// `polystore erase`.
struct EraseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "erase", abstract: "Removes a store with all its objects, after a confirmation.",
        discussion: "Only what the store has made is removed: tables of other programs in the same database remain.")

    @Argument(help: "The store to erase, as a URL.")
    var store: String

    @Flag(help: "Erase without asking.")
    var yes = false

    func run() throws {
        let opened = try Stores.open(store, readOnly: false, acceptsIncompleteCopy: true)
        defer { opened.close() }
        let reader = try opened.store.beginRead()
        let contents = Contents(reader)
        var rows = 0
        for root in opened.schema.roots { rows += try contents.count(root) }
        reader.end()
        try Question.confirm("erase \(opened.url.redacted) with \(rows) objects?", isConfirmed: yes)
        try opened.store.erase()
        Console.print("erased \(opened.url.redacted)")
    }
}
