internal import PolystoreFoundation

/// A selection of history entries and a page size.
///
/// A token is found immediately. Every other criterion is evaluated by iterating through the entries after the token, so a page takes time
/// proportional to the number of entries examined, which is at most `reach`.
package struct HistoryScan: Sendable, Hashable {
    /// The token after which to start, or nil for the oldest retained entry.
    package var after: HistoryToken?
    /// The earliest time of the selected entries, in microseconds since 1970.
    package var from: Int64?
    /// The time before which the selected entries were committed, in microseconds since 1970.
    package var until: Int64?
    /// The authors whose entries are selected, or nil for all.
    package var authors: Set<String>?
    /// The authors whose entries are excluded.
    package var excludedAuthors: Set<String> = []
    /// The entities of which a selected entry must contain a change, or nil for any entity.
    package var entities: Set<EntityIndex>?
    /// The maximum number of entries in a page.
    package var limit: Int
    /// The maximum number of entries that one page examines.
    package var reach = 10_000

    private static let chunk = 256

    /// Creates a scan of all entries after a token.
    package init(after: HistoryToken? = nil, limit: Int = 1000) {
        self.after = after
        self.limit = limit
    }

    /// Entries in their order, and the token at which the next page starts.
    package struct Page: Sendable, Hashable {
        /// The selected entries.
        package var entries: [HistoryEntry]
        /// The token of the last examined entry, whether it was selected or not.
        package var next: HistoryToken
        /// The time of the last examined entry; nil if none was examined.
        package var time: Int64?
        /// Whether there were no entries after it.
        package var isLast: Bool
        /// The lowest times of the entries that were examined and not selected, by the number of selected entries before them.
        package var skippedTimes: [Int: Int64] = [:]
    }

    /// Returns the next page. If the history has no valid starting point, because a program writes without recording, the page is empty.
    ///
    /// - Throws: `tokenExpired` if the history no longer contains the position of the token; `unsupported` for a store that keeps no
    ///   history.
    package func page(_ reader: ReadSession) throws(StorageError) -> Page {
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
                page.time = entry.time
                if includes(entry) {
                    page.entries.append(entry)
                } else {
                    page.skippedTimes[page.entries.count] = min(page.skippedTimes[page.entries.count] ?? .max, entry.time)
                }
                if page.entries.count >= max(limit, 1) { break }
            }
        }
        return page
    }

    private func start(_ reader: ReadSession) throws(StorageError) -> HistoryToken {
        if let after { return after }
        return try Self.beginning(reader)
    }

    /// Returns the token that precedes all retained entries of a store.
    package static func beginning(_ reader: ReadSession) throws(StorageError) -> HistoryToken {
        if let first = try reader.history(since: nil, limit: 1).first {
            return HistoryToken(store: reader.store.storeID, position: first.token.position - 1)
        }
        return try newest(reader)
    }

    /// Returns the newest token, or position 0 for a store that never had one.
    package static func newest(_ reader: ReadSession) throws(StorageError) -> HistoryToken {
        if let newest = try reader.currentToken() { return newest }
        return HistoryToken(store: reader.store.storeID, position: 0)
    }

    private var isFiltered: Bool { from != nil || until != nil || authors != nil || !excludedAuthors.isEmpty || entities != nil }

    /// Returns whether the scan selects an entry.
    package func includes(_ entry: HistoryEntry) -> Bool {
        if let from, entry.time < from { return false }
        if let until, entry.time >= until { return false }
        if let authors, !authors.contains(entry.author) { return false }
        if excludedAuthors.contains(entry.author) { return false }
        guard let entities else { return true }
        return entry.changes.keyRuns.contains { entities.contains($0.entity) }
    }
}
