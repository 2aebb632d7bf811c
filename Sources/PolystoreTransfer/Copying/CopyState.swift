internal import Foundation
internal import PolystoreStorage

/// The progress of a copy in steps, which is kept in a note of the target.
struct CopyState: Codable, Sendable {
    /// The rows of a hierarchy, or the pairs of a link table, that were copied.
    struct Table: Codable, Sendable {
        let name: String
        let count: Int
        let digest: String

        init(_ item: TransferItem) {
            name = item.name
            count = item.digest.count
            digest = item.digest.description
        }
    }

    /// The name of the source.
    let source: String
    /// A hash of the model and of what is copied.
    let work: String
    /// The transfer that copies, so that a second one is noticed.
    var run: UUID
    /// The tables that were begun.
    var tables: [Table] = []
    /// The progress of a live transfer; nil for other transfers.
    var live: LiveProgress?
    /// The rows that the target has refused; nil if there are none.
    var refused: RefusedRows?

    init(_ source: String, _ work: String, _ run: UUID, refused: RefusedRows? = nil) {
        self.source = source
        self.work = work
        self.run = run
        self.refused = refused
    }

    /// The progress of a live transfer, whose source changes meanwhile.
    struct LiveProgress: Codable, Sendable {
        /// The identity of the source.
        var source: UUID?
        /// The position in the history of the source: the copied objects are as they were then.
        var token: HistoryToken?
        /// The greatest copied key of a hierarchy that is not copied completely.
        var last: [String: Int64] = [:]
        /// The hierarchies and link tables that are copied.
        var copied: Set<String> = []
        /// Whether everything is copied, so that only changes are left.
        var isCopied = false
    }

    /// Creates the state from a note; nil if the note is damaged.
    init?(_ note: Data) {
        guard let state = try? JSONDecoder().decode(CopyState.self, from: note) else { return nil }
        self = state
    }

    /// Returns whether both states are those of the same transfer.
    func isSameWork(as other: CopyState) -> Bool { source == other.source && work == other.work }

    /// The note of a copy that is complete: its source and its work, and after another line break the rows that the target has refused.
    var completeNote: Data {
        let rest = refused.flatMap { try? JSONEncoder().encode($0) }.map { Data("\n".utf8) + $0 } ?? Data()
        return Data(identity.utf8) + rest
    }

    private var identity: String { "\(source)\n\(work)" }

    /// Reads the note of a complete copy. Returns nil if it is the copy of something else.
    func completed(_ note: Data) -> CopyState? {
        let start = Data(identity.utf8)
        guard note.starts(with: start) else { return nil }
        let rest = note.dropFirst(start.count)
        if rest.isEmpty { return CopyState(source, work, run) }
        guard rest.first == UInt8(ascii: "\n"), let refused = try? JSONDecoder().decode(RefusedRows.self, from: Data(rest.dropFirst()))
        else { return nil }
        return CopyState(source, work, run, refused: refused)
    }

    /// Sets how much of a table was copied.
    mutating func set(_ item: TransferItem) {
        let table = Table(item)
        if let index = tables.firstIndex(where: { $0.name == item.name }) { tables[index] = table } else { tables.append(table) }
    }

    /// The number of rows and pairs that were copied.
    var count: Int { tables.reduce(0) { $0 + ($1.name == PastTransactions.table ? 0 : $1.count) } }
}
