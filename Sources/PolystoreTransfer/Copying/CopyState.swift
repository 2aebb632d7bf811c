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

    init(_ source: String, _ work: String, _ run: UUID) {
        self.source = source
        self.work = work
        self.run = run
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

    /// The note of a copy that is complete.
    var completeNote: Data { Data("\(source)\n\(work)".utf8) }

    /// Sets how much of a table was copied.
    mutating func set(_ item: TransferItem) {
        let table = Table(item)
        if let index = tables.firstIndex(where: { $0.name == item.name }) { tables[index] = table } else { tables.append(table) }
    }

    /// The number of rows and pairs that were copied.
    var count: Int { tables.reduce(0) { $0 + $1.count } }
}
