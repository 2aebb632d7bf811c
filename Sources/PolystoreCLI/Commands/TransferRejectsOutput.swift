internal import Foundation
internal import PolystoreStorage
internal import PolystoreTransfer

/// The file with the rows that a transfer has left out.
struct TransferRejectsOutput {
    private let path: String

    /// The number of rows whose reasons are shown.
    private static let mostShown = 20

    /// - Throws: Errors of a path that cannot be used, before anything is read.
    init(_ path: String, from source: Stores.Opened, to target: TransferTarget) throws(StorageError) {
        self.path = path
        try Stores.check(output: path, from: nil)
        try Stores.check(replacing: path, "a file of rejected rows", where: RejectsOutput.isOwn)
        try Stores.checkIsNoPart(path, of: source)
        if let obstacle = target.obstacle(toOutput: path) { throw obstacle }
        let names = [".csv", ".tsv", ".tab"]
        if names.contains(where: { path.lowercased().hasSuffix($0) || path.lowercased().hasSuffix("\($0).gz") }) {
            throw StorageError(
                .invalidConfiguration, "the rejected rows are written as JSON lines; end the name of their file with .ndjson")
        }
        _ = try OutputFile(path)
    }

    /// Writes the rows, in place of those of an interrupted run.
    func write(_ rejects: TransferRejects) throws(StorageError) {
        // The rows that an earlier run has left out are in the target now.
        if rejects.rows.isEmpty, Stores.identity(path) == nil { return }
        let output = try OutputFile(path)
        try rejects.forEachRecord { _, record throws(StorageError) in try output.write(Array("\(record)\n".utf8)) }
        try output.finish()
    }

    /// Shows the reasons of the first rows.
    func show(_ rows: [RejectedRow], isQuiet: Bool) {
        for row in rows.prefix(isQuiet ? 0 : Self.mostShown) { Console.error("rejected: \(row.entity) \(row.key): \(row.reason)") }
        let more = isQuiet ? 0 : max(0, rows.count - Self.mostShown)
        let counts = Dictionary(rows.map { ($0.entity, 1) }, uniquingKeysWith: +).sorted { $0.key < $1.key }
        let names = counts.map { "\($0.value) of \($0.key)" }.joined(separator: ", ")
        Console.error(
            "polystore: \(rows.count) rows were left out (\(names))\(more > 0 ? ", \(more) of which are not shown" : ""); they are in \(path)"
        )
    }
}
