internal import PolystoreStorage

/// The transactions of the history, newest first. The newest page continues with transactions as they are committed.
struct HistoryPage {
    private let browser: StoreBrowser
    private let position: Int64?

    init(_ browser: StoreBrowser, before position: Int64?) {
        self.browser = browser
        self.position = position
    }

    func answer(_ frame: PageFrame) throws(StorageError) -> StoreBrowser.Answer {
        guard browser.store.capabilities.contains(.history) else { return frame.answer("History", nothing) }
        let window = try browser.read { reading throws(StorageError) in try HistoryWindow(reading.session, before: position) }
        let entries = HistoryMarkup(browser.store.schema)
        let isLive = position == nil
        let older: HTML = window.older.map { #"<a class="plain" rel="next" href="\#(Address.history(before: $0))">Older</a>"# } ?? .nothing
        let newer: HTML = isLive ? .nothing : #"<a class="plain" rel="prev" href="\#(Address.history)">Newest</a>"#
        let live: HTML =
            isLive ? #"<span class="live" id="live" data-events="/history/events?after=\#(window.newest)">connecting</span>"# : .nothing
        let none: HTML = window.entries.isEmpty ? #"<p class="nothing" id="nothing">The history has no transactions.</p>"# : .nothing
        return frame.answer(
            "History",
            """
            <div class="head"><h1>History</h1>\(live)<span class="soft note">times in UTC</span></div>
            <ol class="history" id="history">
            \(window.entries.map(entries.item))</ol>
            \(none)
            <p class="pages">\(newer)\(older)</p>
            """)
    }

    private var nothing: HTML {
        let isForeign = browser.store.ability((any ForeignStorage).self)?.foreignAccess != nil
        let reason =
            isForeign
            ? "This is a database of another program, which keeps no history of its transactions."
            : "This store keeps no history of its transactions, so it cannot show what was changed."
        return #"<div class="head"><h1>History</h1></div><p class="nothing">\#(reason)</p>"#
    }
}
