internal import Foundation

/// Which entries of a history are wanted, and how many at a time.
///
/// A token is found at once; everything else is looked for by walking through the entries after it, so a page takes time in proportion to
/// the entries that it walks through, at most `reach`.
public struct HistoryScan: Sendable, Hashable {
    /// Where to begin; nil for the oldest entry that is kept.
    public var after: HistoryToken?
    /// The time from which on entries are wanted, in microseconds since 1970.
    public var from: Int64?
    /// The time before which entries are wanted.
    public var until: Int64?
    /// The authors whose entries are wanted; nil for all.
    public var authors: Set<String>?
    /// Authors whose entries are not wanted.
    public var excludedAuthors: Set<String> = []
    /// The entities of which something has to have changed; nil for any.
    public var entities: Set<EntityIndex>?
    /// The greatest number of entries of a page.
    public var limit: Int
    /// The greatest number of entries that one page walks through.
    public var reach = 10_000

    private static let chunk = 256

    /// All entries after a token.
    public init(after: HistoryToken? = nil, limit: Int = 1000) {
        self.after = after
        self.limit = limit
    }

    /// Entries in their order, and where the next page goes on.
    public struct Page: Sendable, Hashable {
        /// What was found.
        public var entries: [HistoryEntry]
        /// The last entry that was looked at, found or not.
        public var next: HistoryToken
        /// Whether there was nothing after it.
        public var isLast: Bool
    }

    /// The next page. A history that begins nowhere, because somebody writes without recording it, is empty from its beginning on.
    ///
    /// - Throws: `tokenExpired` when the history no longer reaches back to the token; `unsupported` by a store that keeps none.
    public func page(_ reader: ReadSession) throws(StorageError) -> Page {
        var page = Page(entries: [], next: try start(reader), isLast: false), walked = 0
        while walked < max(reach, 1), page.entries.count < max(limit, 1) {
            let left = isFiltered ? reach - walked : limit - page.entries.count
            let entries = try reader.history(since: walked == 0 ? after : page.next, limit: min(Self.chunk, max(left, 1)))
            if entries.isEmpty {
                page.isLast = true
                break
            }
            walked += entries.count
            for entry in entries {
                page.next = entry.token
                if includes(entry) { page.entries.append(entry) }
                if page.entries.count >= max(limit, 1) { break }
            }
        }
        return page
    }

    private func start(_ reader: ReadSession) throws(StorageError) -> HistoryToken {
        if let after { return after }
        return try Self.beginning(reader)
    }

    /// The token after which a store has everything that it keeps.
    public static func beginning(_ reader: ReadSession) throws(StorageError) -> HistoryToken {
        if let first = try reader.history(since: nil, limit: 1).first {
            return HistoryToken(store: reader.store.storeID, position: first.token.position - 1)
        }
        return try newest(reader)
    }

    /// The newest token, or the one before the first of a store that has never had one.
    public static func newest(_ reader: ReadSession) throws(StorageError) -> HistoryToken {
        if let newest = try reader.currentToken() { return newest }
        return HistoryToken(store: reader.store.storeID, position: 0)
    }

    private var isFiltered: Bool { from != nil || until != nil || authors != nil || !excludedAuthors.isEmpty || entities != nil }

    /// Whether an entry is wanted.
    public func includes(_ entry: HistoryEntry) -> Bool {
        if let from, entry.time < from { return false }
        if let until, entry.time >= until { return false }
        if let authors, !authors.contains(entry.author) { return false }
        if excludedAuthors.contains(entry.author) { return false }
        guard let entities else { return true }
        return entry.changes.keyRuns.contains { entities.contains($0.entity) }
    }
}
