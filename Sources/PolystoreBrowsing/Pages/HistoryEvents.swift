internal import PolystoreStorage

/// The transactions after a position as server-sent events, each with an item of the list of the history.
struct HistoryEvents {
    private(set) var text = ""
    private(set) var position: Int64?

    private static let most = 100

    init(_ browser: StoreBrowser, after position: Int64?) throws(StorageError) {
        guard browser.store.capabilities.contains(.history) else { throw .keepsNoHistory }
        let markup = HistoryMarkup(browser.store.schema)
        self = try browser.read { reading throws(StorageError) in try HistoryEvents(reading.session, markup, after: position) }
    }

    private init(_ session: ReadSession, _ markup: HistoryMarkup, after position: Int64?) throws(StorageError) {
        let newest = try session.currentToken()?.position ?? 0
        self.position = newest
        guard let position, position != newest else { return }
        let token = HistoryToken(store: session.store.storeID, position: position)
        do throws(StorageError) {
            let entries = try session.history(since: token, limit: Self.most)
            for entry in entries { add("entry", entry.token.position, markup.item(entry)) }
            self.position = entries.last?.token.position ?? position
        } catch {
            if error.code != .tokenExpired { throw error }
            add("expired", newest, "Transactions were deleted from the history. Load the page again.")
        }
    }

    private mutating func add(_ name: String, _ id: Int64, _ item: HTML) {
        let lines = item.text.split(separator: "\n", omittingEmptySubsequences: true).map { "data: \($0)\n" }.joined()
        text += "event: \(name)\nid: \(id)\n\(lines)\n"
    }
}
