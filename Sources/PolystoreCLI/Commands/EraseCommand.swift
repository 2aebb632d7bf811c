internal import ArgumentParser
internal import Foundation
internal import PolystoreStorage
internal import PolystoreTransfer

/// `polystore erase`.
struct EraseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "erase", abstract: "Removes a store with all its objects, after a confirmation.",
        discussion: """
            Only what the store has made is removed: tables of other programs in the same database remain. What an interrupted transfer has \
            copied to the store is removed, too.
            """)

    @Argument(help: "The store to erase, as a URL.", completion: ShellCompletion.store)
    var store: String

    @Flag(help: "Erase without asking.")
    var yes = false

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        let opened = try Stores.openUnfinished(store, readOnly: false)
        defer { opened.close() }
        // The copy of an interrupted transfer has another name until it is complete.
        let path = opened.store.ability((any LocalStorage).self)?.fileURL.path ?? ""
        let lock = path.hasSuffix(".partial") ? try PartialLock("\(path).transfer") : nil
        let rows = try opened.count()
        try Question.confirm("erase \(opened.url.redacted) with \(rows) objects?", isConfirmed: yes)
        try opened.store.erase()
        lock?.remove()
        let name = opened.url.redacted
        Console.report(json ? JSONText.object([("store", JSONText.string(name)), ("objects", "\(rows)")]) : "erased \(name)")
    }
}
