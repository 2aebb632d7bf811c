internal import Foundation
internal import Polystore
internal import PolystoreStorage
internal import PolystoreTransfer

/// A piece of unfinished work of a store.
struct StoreJob {
    /// The kind of work.
    enum Kind: String {
        case copy, liveCopy, move, migration
    }

    let kind: Kind
    /// The work in words.
    let text: String
    /// The command that continues the work.
    let next: String
    /// The number of rows that were copied; nil for other work.
    var done: Int?
    /// The number of rows of the source; nil if it is not known.
    var total: Int?
    /// Whether a process does the work now; nil if that cannot be found out.
    var isRunning: Bool?

    /// Returns the unfinished work of a store.
    ///
    /// - Parameter name: The store as the command line names it.
    static func all(of opened: Stores.Opened, named name: String) throws(StorageError) -> [StoreJob] {
        let reader = try opened.store.beginRead()
        defer { reader.end() }
        var jobs: [StoreJob] = []
        if let copy = try CopyRecord(in: reader) { jobs.append(job(copy, opened, name)) }
        if let move = try MoveNote(in: reader) { jobs.append(job(move, name)) }
        if let migration = try? RollingMigration(opened.store).current() { jobs.append(job(migration, name)) }
        return jobs
    }

    private static func job(_ copy: CopyRecord, _ opened: Stores.Opened, _ name: String) -> StoreJob {
        let what = copy.isLive ? "a copy of \(copy.source) that follows its changes" : "a copy of \(copy.source)"
        let option = copy.isLive ? " --live" : ""
        var job = StoreJob(
            kind: copy.isLive ? .liveCopy : .copy, text: copy.isCopied ? "\(what); everything is copied" : what,
            next: "polystore transfer \(quoted(copy.source)) \(quoted(name))\(option)")
        let rows = Set(opened.schema.roots.map { opened.schema.entities[$0].name })
        job.done = copy.tables.reduce(0) { $0 + (rows.contains($1.name) ? $1.count : 0) }
        job.total = total(of: copy.source)
        if let path = opened.store.ability((any LocalStorage).self)?.fileURL.path, path.hasSuffix(".partial") {
            job.isRunning = PartialLock.isHeld("\(path).transfer")
        }
        return job
    }

    private static func job(_ move: MoveNote, _ name: String) -> StoreJob {
        if move.isComplete {
            return StoreJob(
                kind: .move, text: "the store has been replaced by \(move.place), and can only be read",
                next: "polystore info \(quoted(move.place))")
        }
        return StoreJob(
            kind: .move, text: "write transactions are refused, because the store is being replaced by \(move.place)",
            next: "polystore transfer \(quoted(name)) \(quoted(move.place)) --live --cut-over")
    }

    private static func job(_ migration: RollingMigrationState, _ name: String) -> StoreJob {
        let versions = "an online migration from version \"\(migration.source.version)\" to \"\(migration.destination.version)\""
        switch migration.phase {
        case .filling:
            return StoreJob(
                kind: .migration, text: "\(versions); existing objects are not filled", next: "polystore schema backfill \(quoted(name))")
        case .ready:
            return StoreJob(
                kind: .migration, text: "\(versions); programs of both versions can run", next: "polystore schema contract \(quoted(name))")
        }
    }

    /// Returns the number of rows of the source; nil if it cannot be read.
    private static func total(of source: String) -> Int? {
        guard let from = try? Stores.open(source) else { return nil }
        defer { from.close() }
        return try? from.count()
    }

    private static func quoted(_ text: String) -> String {
        let isPlain = text.unicodeScalars.allSatisfy { CharacterSet.alphanumerics.contains($0) || "/:._-@+,%".unicodeScalars.contains($0) }
        if isPlain { return text }
        // By scalars: an apostrophe before a combining mark is another character.
        return "'\(text.unicodeScalars.map { $0 == "'" ? "'\\''" : String($0) }.joined())'"
    }

    /// The work as lines of text.
    var lines: [String] {
        let percent = total.flatMap { total in done.map { ", \(total > 0 ? min($0, total) * 100 / total : 100)% of \(total)" } } ?? ""
        let progress = done.map { ["  \($0) rows copied\(percent)"] } ?? []
        let state = isRunning.map { ["  \($0 ? "a process is working on it" : "no process is working on it")"] } ?? []
        return [text] + progress + state + ["  next: \(next)"]
    }

    /// The work as a JSON object.
    var json: String {
        JSONText.object([
            ("kind", JSONText.string(kind.rawValue)), ("text", JSONText.string(text)), ("done", done.map(String.init) ?? "null"),
            ("total", total.map(String.init) ?? "null"), ("running", isRunning.map(String.init) ?? "null"), ("next", JSONText.string(next)),
        ])
    }
}
