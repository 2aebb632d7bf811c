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
            refused with the number of the damaged block, and nothing is restored.
            """)

    @Argument(help: "The archive, which may be compressed by gzip, or - for the standard input.")
    var archive: String

    @Argument(help: "The store to create, as a URL.")
    var store: String

    @Flag(name: .shortAndLong, help: "Print only errors.")
    var quiet = false

    func run() throws {
        var reader = try ArchiveReader(Stores.blocks(archive), name: archive)
        Interruption.watch()
        let opened = try Stores.create(store, reader.schema)
        let line = ProgressLine(isQuiet: quiet), items: [TransferItem]
        do {
            defer { line.finish() }
            items = try reader.restore(into: opened.store, limit: Interruption.limit) { line.show($0, done: $1) }
        } catch {
            opened.abandon()
            throw error
        }
        try opened.finish()
        if !quiet {
            Console.print(
                "restored \(items.reduce(0) { $0 + $1.digest.count }) rows of \(items.count) tables; all digests are those of the archive")
        }
    }
}
