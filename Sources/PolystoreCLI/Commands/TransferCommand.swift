internal import ArgumentParser
internal import Foundation
internal import PolystoreStorage
internal import PolystoreTransfer

/// `polystore transfer`.
struct TransferCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "transfer", abstract: "Copies all objects from one store to another, and verifies the copy.",
        discussion: """
            Primary keys and versions are preserved. The target is created if it does not exist; a target with objects is refused. The history \
            and the positions of its consumers are not copied.

            --plan reads the source completely and shows what would be copied and what would prevent it. It opens the target only for reading \
            and writes nothing; the exit code is 1 if the transfer would be refused.
            """)

    @Argument(help: "The store to copy from, as a URL.")
    var source: String

    @Argument(help: "The store to copy to, as a URL.")
    var target: String

    @Flag(help: "Show what would be copied and what would prevent it, and write nothing.")
    var plan = false

    @Flag(help: "Print the plan as JSON.")
    var json = false

    @Flag(help: "Do not compare the stores after the copy.")
    var noVerify = false

    @Option(help: "The path of data of a foreign database that cannot be read and may be missing from the copy; can be repeated.")
    var acceptLoss: [String] = []

    @Flag(name: .shortAndLong, help: "Print only errors.")
    var quiet = false

    func validate() throws { if json, !plan { throw ValidationError("--json prints a plan; add --plan") } }

    func run() throws {
        let from = try Stores.open(source)
        defer { from.close() }
        Interruption.watch()
        let place = try TransferTarget(target)
        if plan { return try showPlan(from, place) }
        if !quiet { for note in try from.remarks + notes(from) { Console.error("note: \(note)") } }
        try refuseLosses(from)
        // A database of another program would get tables and triggers before the copy is refused.
        if let obstacle = try place.obstacle(to: from) { throw obstacle }
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
            Console.report("copied \(rows) rows of \(items.count) tables in \(String(format: "%.2f", seconds)) s")
        }
        if let name = try verification.get() {
            Console.error("polystore: \(name) differs after the copy")
            throw Failure.differs
        }
        if !quiet, !noVerify { Console.report("verified: all \(items.count) digests are equal") }
    }

    /// Returns notes about data of a Polystore store that is not copied, or whose meaning changes in the copy.
    private func notes(_ from: Stores.Opened) throws(StorageError) -> [String] {
        let reader = try from.store.beginRead()
        defer { reader.end() }
        var notes: [String] = []
        if from.store.capabilities.contains(.history), let token = try reader.currentToken(), token.position > 0 {
            notes.append("the history of the source is not copied; the target starts a new history")
        }
        for entity in from.schema.entities {
            for attribute in entity.attributes where attribute.crossReference != nil {
                notes.append("\(entity.name).\(attribute.name) still refers to the original stores, even if they were copied too")
            }
        }
        return notes
    }

    /// Prints what a transfer would copy.
    ///
    /// - Throws: `Failure.differs` if it would be refused.
    private func showPlan(_ from: Stores.Opened, _ place: TransferTarget) throws {
        let reader = try from.store.beginRead(ReadOptions(limit: Interruption.limit))
        defer { reader.end() }
        let line = ProgressLine(isQuiet: quiet)
        let plan: TransferPlan
        do {
            defer { line.finish() }
            plan = try TransferPlan(reader, Interruption.limit, line.show)
        }
        let text = PlanText(
            source: from.url.redacted, target: place.redacted, items: plan.items, notes: try from.remarks + notes(from),
            obstacles: unacceptedLosses(from).map { "data of \($0) cannot be read and would be missing" }
                + [try place.obstacle(to: from)?.message].compactMap { $0 })
        Console.print(json ? text.json : text.lines.joined(separator: "\n"))
        if text.isRefused { throw Failure.differs }
    }

    private func unacceptedLosses(_ from: Stores.Opened) -> [String] {
        (from.store.ability((any ForeignStorage).self)?.losses ?? []).filter { !acceptLoss.contains($0) }
    }

    /// Refuses a copy that would lack stored data, unless the loss was accepted.
    private func refuseLosses(_ from: Stores.Opened) throws(StorageError) {
        let losses = unacceptedLosses(from)
        if losses.isEmpty { return }
        let options = losses.map { "--accept-loss '\($0)'" }.joined(separator: " ")
        throw StorageError(
            .dataLossRefused,
            "the copy would lack data of \(losses.joined(separator: ", ")) that cannot be read (polystore info shows why); accept the loss with \(options)"
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
