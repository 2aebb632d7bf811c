import Foundation
import Polystore
import PolystoreBrowsing
import TestStores
import Testing

/// Tables of the browser: pages, orders, conditions and counts.
@Suite struct TablePageTests {
    /// Follows the links to the next page, and returns the keys of all pages.
    private func walk(_ shop: Shop, _ address: String, _ relation: String = "next") -> [[Int64]] {
        var pages: [[Int64]] = [], next: String? = address
        while let address = next, pages.count < 20 {
            let page = shop.page(address)
            pages.append(page.rowKeys)
            next = page.link(relation)
        }
        return pages
    }

    @Test(arguments: TestStore.all) func pagesFollowEachOtherInBothDirections(_ kind: TestStore) throws {
        let shop = try Shop(kind)
        defer { shop.erase() }
        let keys = try shop.insert("Order", (0..<123).map { ["number": .int(Int64($0))] })
        #expect(walk(shop, "/e/Order") == [Array(keys[..<50]), Array(keys[50..<100]), Array(keys[100...])])
        let last = shop.page("/e/Order?page=last")
        #expect(last.rowKeys == Array(keys[73...]))
        #expect(last.contains("74–123 of <b>123</b>"))
        #expect(walk(shop, "/e/Order?page=last", "prev") == [Array(keys[73...]), Array(keys[23..<73]), Array(keys[..<23])])
    }

    /// Every type of attribute by which objects can be sorted, with values that are equal and with nil.
    @Test(arguments: TestStore.all) func pagesInEveryOrderShowEachObjectOnce(_ kind: TestStore) throws {
        let shop = try Shop(kind)
        defer { shop.erase() }
        let ids = (0..<5).map { _ in UUID() }
        let rows = (0..<120).map { index -> [String: Value] in
            let number = index % 7
            var row: [String: Value] = ["name": .string("n\(number)"), "isActive": .bool(index % 2 == 0)]
            if number == 3 { return row }
            row["born"] = .date(Int64(number) * 86_400_000_000 + 1)
            row["credit"] = .decimal(Decimal(number) / 4)
            row["size"] = .double(Double(number) / 3)
            row["rank"] = .int(Int64(number) - 3)
            row["page"] = .string("https://example.org/\(number)")
            row["identity"] = .uuid(ids[number % 5])
            return row
        }
        let keys = try shop.insert("Customer", rows)
        for property in ["name", "born", "credit", "isActive", "page", "identity", "size", "rank", "SELF"] {
            for sign in ["", "-"] {
                let reader = try shop.store.beginRead()
                defer { reader.end() }
                let terms =
                    property == "SELF"
                    ? [OrderTerm(.object, ascending: sign.isEmpty)] : [OrderTerm(PropertyPath(property), ascending: sign.isEmpty)]
                let plan = try ObjectRequest("Customer", orderBy: terms).plan(in: shop.schema)
                var expected: [Int64] = []
                let cursor = try reader.cursor(for: plan), batch = RowBatch()
                while try cursor.next(into: batch) { expected += (0..<batch.count).map(batch.key) }
                let address = "/e/Customer?sort=\(sign)\(property)"
                #expect(walk(shop, address).flatMap { $0 } == expected, "\(sign)\(property)")
                #expect(
                    walk(shop, "\(address)&page=last", "prev").reversed().flatMap { $0 } == expected, "\(sign)\(property), from the end")
            }
        }
        #expect(Set(keys).count == 120)
    }

    /// Keys that are far from each other, below zero, and of other entities of the hierarchy.
    @Test(arguments: TestStore.all) func pagesByKeysFindDistantObjects(_ kind: TestStore) throws {
        let shop = try Shop(kind)
        defer { shop.erase() }
        let far: [Int64] = [-5_000_000_000_000, -3, 1, 700, 90_000, 4_000_000_000, 4_000_000_001, 8_000_000_000_000_000]
        let near = (0..<90).map { Int64($0) + 5_000_000 }
        try shop.load("Customer", far + near)
        try shop.load("Employee", (0..<3000).map { Int64($0) + 6_000_000 })
        let keys = (far + near).sorted()
        #expect(walk(shop, "/e/Customer").flatMap { $0 } == keys)
        #expect(walk(shop, "/e/Customer?page=last", "prev").reversed().flatMap { $0 } == keys)
        #expect(walk(shop, "/e/Customer?sort=-SELF").flatMap { $0 } == keys.reversed())
        for (before, key) in zip(keys, keys.dropFirst()) {
            #expect(shop.page("/o/Customer/\(key)").link("prev") == "/o/Customer/\(before)")
            #expect(shop.page("/o/Customer/\(before)").link("next") == "/o/Customer/\(key)")
        }
        #expect(shop.page("/o/Customer/\(keys[0])").link("prev") == nil)
    }

    @Test func pagesAfterADeletedObjectSayWhatHappened() throws {
        let shop = try Shop(.memory)
        let keys = try shop.insert("Order", (0..<60).map { ["number": .int(Int64($0))] })
        try shop.delete("Order", keys[49])
        // By keys, the place of the object remains.
        #expect(shop.page("/e/Order?after=\(keys[49])").rowKeys == Array(keys[50...]))
        let answer = shop.browser.answer("/e/Order?sort=number&after=\(keys[49])")
        #expect(answer.status == 404)
        #expect(answer.body.contains("was deleted; start again with the first page"))
    }

    @Test(arguments: TestStore.all) func conditionsChooseObjectsAndAreKeptByAllLinks(_ kind: TestStore) throws {
        let shop = try Shop(kind)
        defer { shop.erase() }
        let keys = try shop.insert("Order", (0..<130).map { ["number": .int(Int64($0)), "note": .string($0 % 2 == 0 ? "a" : "b")] })
        let page = shop.page("/e/Order?where=note+%3D%3D+%27a%27&sort=-number")
        #expect(page.rowKeys == Array(keys.enumerated().filter { $0.offset % 2 == 0 }.map(\.element).reversed().prefix(50)))
        #expect(page.contains("1–50 of <b>65</b>"))
        #expect(page.contains(#"value="note == &#39;a&#39;""#))
        let next = try #require(page.link("next"))
        #expect(next.contains("where=note%20%3D%3D%20%27a%27") && next.contains("sort=-number"))
        #expect(shop.page(next).contains("51–65 of <b>65</b>"))
        #expect(shop.page(next).rowKeys.count == 15)
    }

    @Test func anInvalidConditionIsKeptWithTheReasonAtItsField() throws {
        let shop = try Shop(.memory)
        try shop.insert("Order", [["number": .int(1)]])
        for (condition, sentence) in [
            ("numbr == 1", "number"), ("number ==", "expected"), ("number == 'x'", "number"), ("customer.nam == 'x'", "name"),
            (#"note LIKE "<b>\""#, "not terminated"),
        ] {
            let encoded = condition.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            let answer = shop.browser.answer("/e/Order?where=\(encoded)")
            #expect(answer.status == 400, "\(condition)")
            let escaped = condition.replacingOccurrences(of: "'", with: "&#39;").replacingOccurrences(of: "\"", with: "&quot;")
                .replacingOccurrences(of: "<", with: "&lt;").replacingOccurrences(of: ">", with: "&gt;")
            #expect(answer.body.contains("value=\"\(escaped)\""), "\(condition)")
            #expect(answer.body.contains(#"aria-invalid="true""#))
            let refusal = try #require(answer.body.all(#"role="alert">(.*?)</p>"#).first, "\(condition)")
            #expect(refusal.contains(sentence) && (refusal.hasSuffix(".") || refusal.hasSuffix("?")), "\(refusal)")
        }
    }

    @Test(arguments: TestStore.all) func aConditionThatTakesTooLongIsAnErrorAtItsField(_ kind: TestStore) throws {
        let shop = try Shop(kind)
        defer { shop.erase() }
        try shop.insert("Order", (0..<2000).map { ["number": .int(Int64($0)), "note": .string(String(repeating: "ab", count: 500))] })
        var browser = shop.browser
        browser.patience = .nanoseconds(1)
        let answer = browser.answer("/e/Order?where=note+LIKE+%27*ba*x*%27")
        #expect(answer.status == 503)
        #expect(answer.body.contains("needs too long for this condition"))
    }

    @Test(arguments: TestStore.all) func aNumberThatTakesTooLongIsRequestedByThePage(_ kind: TestStore) throws {
        let shop = try Shop(kind)
        defer { shop.erase() }
        try shop.insert("Order", (0..<60).map { ["number": .int(Int64($0))] })
        var browser = shop.browser
        browser.countPatience = .nanoseconds(1)
        let page = browser.answer("/e/Order?where=number+%3E+5").body
        #expect(page.contains(#"data-count="/count/Order?where=number%20%3E%205""#))
        #expect(browser.answer("/").body.contains(#"data-count="/count/Order""#))
        #expect(browser.answer("/count/Order?where=number+%3E+5").body == "54")
    }

    @Test(arguments: TestStore.all) func aTableOfParentsShowsTheEntityAndThePropertiesOfAll(_ kind: TestStore) throws {
        let shop = try Shop(kind)
        defer { shop.erase() }
        let customer = try shop.insert("Customer", [["name": .string("Ada"), "isActive": .bool(true)]])
        let employee = try shop.insert("Employee", [["name": .string("Bo"), "room": .string("12")]])
        let page = shop.page("/e/Person")
        #expect(page.rowKeys == customer + employee)
        #expect(page.contains(#"<td class="soft">Customer</td>"#) && page.contains(#"<td class="soft">Employee</td>"#))
        #expect(page.contains(#"<td class="absent"></td>"#))
        #expect(page.contains(#"href="/o/Employee/\#(employee[0])""#))
        #expect(!page.contains("sort=room") && page.contains("sort=name"))
    }

    @Test func numbersNilAndEmptyTextsAreToldApart() throws {
        let shop = try Shop(.memory)
        try shop.insert(
            "Order",
            [
                ["number": .int(-5), "note": .string("")], ["number": .int(6), "note": .null],
                ["number": .int(7), "note": .string("a\nb")],
            ])
        let page = shop.page("/e/Order")
        #expect(page.contains(#"<td class="number">-5</td>"#))
        #expect(page.contains(#"<td class="value"><span class="empty" title="an empty text">""</span></td>"#))
        #expect(page.contains(#"<td class="value"><span class="null">nil</span></td>"#))
        #expect(page.contains(#"<td class="value">a b</td>"#))
    }
}
