internal import PolystoreStorage

/// The newest transactions of the history before a position, newest first.
struct HistoryWindow {
    private(set) var entries: [HistoryEntry] = []
    /// The position before which there are older transactions; nil if there are none.
    private(set) var older: Int64?
    /// The newest position of the store.
    let newest: Int64

    static let size = 50

    init(_ session: ReadSession, before position: Int64?) throws(StorageError) {
        newest = try session.currentToken()?.position ?? 0
        // Positions begin with 1; a request can name any number.
        let end = max(min(position ?? .max, newest == .max ? newest : newest + 1), 1)
        var span = Int64(Self.size)
        // Positions can have gaps, so a wider range is read if the first one has few transactions.
        while true {
            let (start, isTooSmall) = (end - 1).subtractingReportingOverflow(span)
            let isAll = isTooSmall || start <= 0
            let found = try Self.entries(session, after: isAll ? nil : start, before: end)
            entries = found.entries.suffix(Self.size).reversed()
            if entries.count == Self.size || found.isFromBeginning || isAll {
                let isCut = found.entries.count > entries.count || !(found.isFromBeginning || isAll)
                older = isCut ? entries.last?.token.position : nil
                return
            }
            span = span.multipliedReportingOverflow(by: 8).overflow ? .max : span * 8
        }
    }

    /// Returns the transactions of a range, and whether there are none before.
    private static func entries(
        _ session: ReadSession, after start: Int64?, before end: Int64
    ) throws(StorageError) -> (entries: [HistoryEntry], isFromBeginning: Bool) {
        var token = start.map { HistoryToken(store: session.store.storeID, position: $0) }, isFromBeginning = token == nil
        var entries: [HistoryEntry] = []
        while true {
            var page: [HistoryEntry]
            do throws(StorageError) { page = try session.history(since: token, limit: 256) } catch {
                // What precedes the range was purged.
                if error.code != .tokenExpired || isFromBeginning { throw error }
                token = nil
                isFromBeginning = true
                continue
            }
            let inside = page.prefix { $0.token.position < end }
            entries += inside
            // The last ones of the range are shown, so earlier ones need not be kept.
            if entries.count > 8 * size { entries.removeFirst(entries.count - 2 * size) }
            guard inside.count == page.count, let last = page.last else { return (entries, isFromBeginning) }
            token = last.token
        }
    }
}
