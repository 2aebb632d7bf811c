internal import ArgumentParser
internal import Foundation
internal import PolystoreStorage
internal import PolystoreTransfer

/// `polystore transfer`.
struct TransferCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "transfer", abstract: "Copies every object from one store to another, and verifies the copy.",
        discussion: """
            Keys and versions are kept. The target is made where it is missing; one that holds objects is refused. The history, and what \
            consumers of it keep, is not copied.
            """)

    @Argument(help: "The store to copy from.")
    var source: String

    @Argument(help: "The store to copy to.")
    var target: String

    @Flag(help: "Leave out the comparison after the copy.")
    var noVerify = false

    @Option(help: "Leave out of the copy what of a foreign database is not read, by its path; may be repeated.")
    var acceptLoss: [String] = []

    @Flag(name: .shortAndLong, help: "Say nothing but errors.")
    var quiet = false

    func run() throws {
        let from = try Stores.open(source)
        defer { from.close() }
        if !quiet { for note in try from.remarks + notes(from) { Console.error("note: \(note)") } }
        try refuseLosses(from)
        Interruption.watch()
        let to = try Stores.create(target, from.schema)
        let line = ProgressLine(isQuiet: quiet)
        let start = Date()
        let items: [TransferItem]
        do {
            defer { line.finish() }
            items = try TransferEngine(limit: Interruption.limit).transfer(from: from.store, to: to.store, report: line.show)
        } catch {
            to.abandon()
            throw error
        }
        // The copy is committed and remains even if a later step fails. A store in memory ceases to exist when it is closed.
        let seconds = Date().timeIntervalSince(start)
        let verification = Result { try differing(items, to) }
        try to.finish()
        if !quiet {
            let rows = items.reduce(0) { $0 + $1.digest.count }
            Console.print("copied \(rows) rows of \(items.count) tables in \(String(format: "%.2f", seconds)) s")
        }
        if let name = try verification.get() {
            Console.error("polystore: \(name) differs after the copy")
            throw Failure.differs
        }
        if !quiet, !noVerify { Console.print("verified: all \(items.count) digests are equal") }
    }

    /// Returns notes about data of a Polystore store that is not copied, or whose meaning changes in the copy.
    private func notes(_ from: Stores.Opened) throws(StorageError) -> [String] {
        let reader = try from.store.beginRead()
        defer { reader.end() }
        var notes: [String] = []
        if from.store.capabilities.contains(.history), let token = try reader.currentToken(), token.position > 0 {
            notes.append("the history of the source is not copied; that of the target begins anew")
        }
        for entity in from.schema.entities {
            for attribute in entity.attributes where attribute.crossReference != nil {
                notes.append("\(entity.name).\(attribute.name) leads to the stores that it led to before, also where they were copied")
            }
        }
        return notes
    }

    /// Refuses a copy that would lack stored data, unless the loss was accepted.
    private func refuseLosses(_ from: Stores.Opened) throws(StorageError) {
        let losses = (from.store.ability((any ForeignStorage).self)?.losses ?? []).filter { !acceptLoss.contains($0) }
        if losses.isEmpty { return }
        let options = losses.map { "--accept-loss '\($0)'" }.joined(separator: " ")
        throw StorageError(
            .dataLossRefused,
            "the copy would lack what of \(losses.joined(separator: ", ")) is not read (polystore info says why); accept it with \(options)"
        )
    }

    /// Returns the name of the first entity or link table whose copy differs.
    private func differing(_ items: [TransferItem], _ to: Stores.Opened) throws(StorageError) -> String? {
        if noVerify { return nil }
        let reader = try to.store.beginRead(ReadOptions(limit: Interruption.limit))
        defer { reader.end() }
        return zip(items, try Contents(reader).digests()).first { $0 != $1 }?.0.name
    }
}
