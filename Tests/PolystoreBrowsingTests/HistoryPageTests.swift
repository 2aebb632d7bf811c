import Foundation
import Polystore
import PolystoreBrowsing
import TestStores
import Testing

/// The history as pages and as events.
@Suite struct HistoryPageTests {
    private func positions(_ page: String) -> [Int] { page.all(#"<li id="t(\d+)""#).compactMap { Int($0) } }

    @Test(arguments: TestStore.all) func transactionsAreShownNewestFirstWithTheirObjects(_ kind: TestStore) throws {
        let shop = try Shop(kind)
        defer { shop.erase() }
        let keys = try shop.insert("Order", (0..<40).map { ["number": .int(Int64($0))] }, author: "load <x>")
        try shop.delete("Order", keys[0], author: "clean")
        let page = shop.page("/history")
        #expect(page.all(#"<b class="author">(.*?)</b>"#) == ["clean", "load &lt;x&gt;"])
        #expect(page.contains(#"<span class="kind insert">inserted</span> <a class="entity" href="/e/Order">Order</a>"#))
        #expect(page.contains(#"<a href="/o/Order/\#(keys[1])">"#) && page.contains("and 28 more"))
        #expect(page.contains(#"<span class="gone">\#(keys[0])</span>"#))
    }

    @Test(arguments: TestStore.all) func olderTransactionsAreOnFurtherPages(_ kind: TestStore) throws {
        let shop = try Shop(kind)
        defer { shop.erase() }
        for index in 0..<120 { try shop.insert("Tag", [["name": .string("t\(index)")]]) }
        var all: [Int] = [], address: String? = "/history", pages = 0
        while let next = address, pages < 9 {
            let page = shop.page(next)
            all += positions(page)
            address = page.link("next")
            pages += 1
        }
        #expect(pages == 3 && all.count == 120 && all == all.sorted(by: >))
        for address in ["/history?before=-9223372036854775808", "/history?before=0", "/history?before=9223372036854775807"] {
            #expect(shop.browser.answer(address).status == 200, "\(address)")
        }
    }

    @Test(arguments: TestStore.all) func eventsContainWhatWasCommittedAfterAPosition(_ kind: TestStore) throws {
        let shop = try Shop(kind)
        defer { shop.erase() }
        var position: Int64?
        try shop.insert("Tag", [["name": .string("before")]])
        #expect(try shop.browser.events(after: &position).isEmpty)
        let start = try #require(position)
        let key = try shop.insert("Tag", [["name": .string("after")]], author: "line\none")[0]
        let text = try shop.browser.events(after: &position)
        #expect(text.hasPrefix("event: entry\nid: ") && text.hasSuffix("\n\n"))
        #expect(text.contains("href=\"/o/Tag/\(key)\""))
        #expect(text.split(separator: "\n").allSatisfy { $0.hasPrefix("event: ") || $0.hasPrefix("id: ") || $0.hasPrefix("data: ") })
        #expect(try #require(position) > start)
        #expect(try shop.browser.events(after: &position).isEmpty)
    }

    @Test func aPositionThatTheHistoryNoLongerHasIsToldOnce() throws {
        let shop = try Shop(.memory)
        for name in ["a", "b", "c"] { try shop.insert("Tag", [["name": .string(name)]]) }
        let writer = try shop.store.beginWrite()
        let newest = try #require(try writer.currentToken())
        try writer.purgeHistory(through: HistoryToken(store: newest.store, position: newest.position - 1))
        _ = try writer.commit(CommitRecord())
        writer.end()
        var position: Int64? = 0
        #expect(try shop.browser.events(after: &position).contains("event: expired"))
        #expect(position == newest.position)
        #expect(positions(shop.page("/history")) == [Int(newest.position)])
    }

    @Test func aDatabaseOfAnotherProgramHasNoHistory() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).db").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let store = try Foreign.store(path)
        defer { try? store.close() }
        let browser = StoreBrowser(store, name: "foreign")
        let answer = browser.answer("/history")
        #expect(answer.status == 200 && answer.body.contains("keeps no history"))
        #expect(browser.answer("/e/book").body.contains("Middlemarch"))
        #expect(browser.answer("/o/book/1").body.contains("George Eliot"))
        var position: Int64?
        #expect(throws: StorageError.self) { try browser.events(after: &position) }
    }
}
