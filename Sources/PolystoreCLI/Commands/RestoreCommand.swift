internal import ArgumentParser
internal import Foundation
internal import PolystoreStorage
internal import PolystoreTransfer

/// `polystore restore`.
struct RestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Creates a store from an archive that polystore dump wrote.",
        discussion: """
            The store can be of any kind. It must not exist, or be empty and have the model of the archive. A damaged or incomplete archive is \
            refused with the number of the damaged block, and nothing is restored. A store in a file is written under another name, which ends \
            with .restore.partial, and renamed when it is complete; the same command replaces what an interrupted one has left.

            If the archive contains the history, the store has the same transactions, with their times, authors and changes. Their tokens are new: \
            tokens of the archived store are refused as expired, so consumers have to begin again.
            """)

    @Argument(help: "The archive, which may be compressed by gzip, or - for the standard input.")
    var archive: String

    @Argument(help: "The store to create, as a URL.", completion: ShellCompletion.store)
    var store: String

    @Flag(help: "Leave out the history of the archive.")
    var noHistory = false

    @Flag(name: .shortAndLong, help: "Print only errors.")
    var quiet = false

    @Flag(help: "Print the result as JSON.")
    var json = false

    func run() throws {
        var reader = try ArchiveReader(Stores.blocks(archive), name: archive)
        Interruption.watch()
        let opened = try Stores.create(
            store, reader.schema, replacesInterrupted: true, leavesRoomForHistory: reader.hasHistory && !noHistory)
        let line = ProgressLine(isQuiet: quiet), restored: RestoredArchive
        do {
            defer { line.finish() }
            restored = try reader.restore(into: opened.store, includesHistory: !noHistory, limit: Interruption.limit) {
                line.show($0, done: $1)
            }
        } catch {
            opened.abandon()
            throw error
        }
        try opened.finish()
        if restored.leavesOutHistory {
            Console.error("polystore: the history of the archive was left out, because the store keeps none")
        }
        let rows = restored.items.reduce(0) { $0 + $1.digest.count }
        if json {
            return Console.report(
                JSONText.object([
                    ("store", JSONText.string(opened.url.redacted)), ("rows", "\(rows)"), ("tables", "\(restored.items.count)"),
                    ("transactions", restored.transactions.map(String.init) ?? "null"),
                    ("historyLeftOut", "\(restored.leavesOutHistory)"),
                ]))
        }
        if quiet { return }
        let history = restored.transactions.map { " and \($0) transactions of the history" } ?? ""
        Console.report("restored \(rows) rows of \(restored.items.count) tables\(history); all digests are those of the archive")
    }
}
