internal import Foundation
internal import PolystoreStorage

/// The progress of a copy in steps, which is kept in a note of the target.
struct CopyState: Codable, Sendable {
    /// The rows of a hierarchy, or the pairs of a link table, that were copied.
    struct Table: Codable, Sendable {
        let name: String
        /// The parts of the table that were copied, in its order and with others between them.
        private(set) var parts: [CopiedPart] = []

        init(_ name: String) { self.name = name }

        /// The number of rows that were copied.
        var count: Int { parts.reduce(0) { $0 &+ $1.digest.count } }

        /// Adds a part.
        mutating func add(_ part: CopiedPart) {
            parts.insert(part, at: parts.firstIndex { $0.start > part.start } ?? parts.count)
            var joined: [CopiedPart] = []
            for part in parts {
                if let last = joined.last, last.end == part.start {
                    joined[joined.count - 1].digest.add(part.digest)
                } else {
                    joined.append(part)
                }
            }
            parts = joined
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

    /// Returns the note of the copy while it is incomplete.
    func note() throws(StorageError) -> Data {
        do { return try JSONEncoder().encode(self) } catch {
            throw StorageError(.limitExceeded, "the state of the copy cannot be written", cause: error)
        }
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

    /// Adds a part of a table that was copied.
    mutating func add(_ part: CopiedPart, of name: String) {
        let index = tables.firstIndex { $0.name == name } ?? tables.count
        if index == tables.count { tables.append(Table(name)) }
        tables[index].add(part)
    }

    /// The number of rows and pairs that were copied.
    var count: Int { tables.reduce(0) { $0 + ($1.name == PastTransactions.table ? 0 : $1.count) } }
}
