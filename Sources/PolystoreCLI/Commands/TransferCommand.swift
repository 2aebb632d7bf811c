internal import ArgumentParser
internal import Foundation
internal import PolystoreStorage
internal import PolystoreTransfer

/// `polystore transfer`.
struct TransferCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "transfer", abstract: "Copies every object from one store to another, and verifies the copy.",
        discussion: "Keys and versions are kept. The target is made where it is missing; one that holds objects is refused.")

    @Argument(help: "The store to copy from.")
    var source: String

    @Argument(help: "The store to copy to.")
    var target: String

    @Flag(help: "Leave out the comparison after the copy.")
    var noVerify = false

    @Flag(name: .shortAndLong, help: "Say nothing but errors.")
    var quiet = false

    func run() throws {
        let from = try Stores.open(source)
        defer { from.close() }
        if !quiet { for remark in from.remarks { Console.error("note: \(remark)") } }
        let to = try Stores.create(target, from.schema)
        let line = ProgressLine(isQuiet: quiet)
        Interruption.watch()
        let start = Date()
        let items: [TransferItem]
        do {
            defer { line.finish() }
            items = try TransferEngine { Interruption.isAsked }.transfer(from: from.store, to: to.store, report: line.show)
        } catch {
            // What was there before is refused, and stays.
            if [.alreadyExists, .schemaMismatch].contains(error.code) { to.close() } else { Stores.remove(to, after: error) }
            throw error
        }
        // It is committed: whatever fails from here on leaves it there.
        defer { to.close() }
        let rows = items.reduce(0) { $0 + $1.digest.count }, seconds = Date().timeIntervalSince(start)
        if !quiet { Console.print("copied \(rows) rows of \(items.count) tables in \(String(format: "%.2f", seconds)) s") }
        try verify(items, to)
    }

    private func verify(_ items: [TransferItem], _ to: Stores.Opened) throws {
        if noVerify { return }
        let reader = try to.store.beginRead()
        defer { reader.end() }
        let found = try Contents(reader).digests()
        for (item, copy) in zip(items, found) where item != copy {
            Console.error("polystore: \(item.name) differs after the copy")
            throw Failure.differs
        }
        if !quiet { Console.print("verified: all \(items.count) digests are equal") }
    }
}
