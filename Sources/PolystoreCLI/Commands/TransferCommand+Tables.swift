internal import Foundation
internal import PolystoreStorage
internal import PolystoreTransfer

extension TransferCommand {
    /// Copies the objects to plain tables, or prints the statements that make them.
    func transferTables(_ from: Stores.Opened) throws {
        let place = try TransferTarget(target), engine = TransferEngine(limit: Interruption.limit)
        let properties = from.schema.descriptions.flatMap { entity in
            (entity.slots.map(\.name) + entity.relationships.map(\.relationship.name)).map { "\(entity.name).\($0)" }
        }
        var options = try options(from, acceptable: properties)
        options.source = nil
        if plan { return try showTables(from, place, options, engine) }
        if !quiet { for note in try from.remarks + notes(from) { Console.error("note: \(note)") } }
        try refuseLosses(from)
        if let obstacle = place.fileObstacle(to: from) { throw obstacle }
        let start = Date(), report = try copyTables(from, options, engine)
        if json { return Console.print(report.json) }
        if !quiet { for line in TransferText.lines(report, seconds: Date().timeIntervalSince(start)) { Console.report(line) } }
    }

    private func copyTables(
        _ from: Stores.Opened, _ options: TransferOptions, _ engine: TransferEngine
    ) throws(StorageError) -> TransferReport {
        let line = ProgressLine(isQuiet: quiet)
        defer { line.finish() }
        return try Stores.withStorage(target) { storage throws(StorageError) in
            try engine.transferTables(from: from.store, to: storage, options, report: line.show)
        }
    }

    /// Prints the statements that make the tables, with the notes and the refusals as comments.
    ///
    /// - Throws: `Failure.differs` if the transfer would be refused.
    private func showTables(
        _ from: Stores.Opened, _ place: TransferTarget, _ options: TransferOptions, _ engine: TransferEngine
    ) throws {
        let tables = try Stores.withStorage(target) { storage throws(StorageError) in
            try engine.planTables(from: from.store, to: storage, options)
        }
        let refusals =
            unacceptedLosses(from).map { "data of \($0) cannot be read and would be missing" }
            + [place.fileObstacle(to: from)?.message].compactMap { $0 } + tables.refusals
        let notes = try from.remarks + notes(from) + tables.notes
        if json {
            Console.print(
                JSONText.object([
                    ("source", JSONText.string(from.url.redacted)), ("target", JSONText.string(place.redacted)),
                    ("statements", JSONText.strings(tables.statements)), ("notes", JSONText.strings(notes)),
                    ("refusals", JSONText.strings(refusals)),
                ]))
        } else {
            let comments = notes.map { "-- note: \($0)" } + refusals.map { "-- refused: \($0)" }
            Console.print((tables.statements.map { "\($0);" } + comments).joined(separator: "\n"))
        }
        if !refusals.isEmpty { throw Failure.differs }
    }
}
