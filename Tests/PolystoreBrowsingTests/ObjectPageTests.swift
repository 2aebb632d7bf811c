import Foundation
import Polystore
import PolystoreBrowsing
import TestStores
import Testing

/// Pages of objects: values, relationships as links, and pages of one value.
@Suite struct ObjectPageTests {
    @Test(arguments: TestStore.all) func relationshipsAreLinksInBothDirections(_ kind: TestStore) throws {
        let shop = try Shop(kind)
        defer { shop.erase() }
        let customer = try shop.insert("Customer", [["name": .string("Ada <3"), "isActive": .bool(true)]])[0]
        let orders = try shop.insert("Order", (0..<30).map { ["number": .int(Int64($0)), "customer": .int(customer)] })
        let tags = try shop.insert("Tag", [["name": .string("new")], ["name": .string("old")]])
        try shop.link("Order.tags", tags.map { LinkPair(owner: orders[0], rank: 0, member: $0) })

        let order = shop.page("/o/Order/\(orders[0])")
        #expect(order.contains(#"href="/o/Customer/\#(customer)""#) && order.contains("Ada &lt;3"))
        for tag in tags { #expect(order.contains(#"href="/o/Tag/\#(tag)""#)) }

        let page = shop.page("/o/Customer/\(customer)")
        #expect(page.contains(#">30</a><span class="type">⇉ Order"#))
        #expect(page.all(#"href="(/o/Order/\d+)""#).count == 12)
        let all = try #require(page.all(#"class="more" href="([^"]*)">all 30<"#).first)
        let table = shop.page(all)
        #expect(table.rowKeys == orders)

        // The other end of a relationship with many objects on both sides.
        let tag = shop.page("/o/Tag/\(tags[0])")
        let holders = try #require(tag.all(#"class="count" href="([^"]*)""#).first)
        #expect(shop.page(holders).rowKeys == [orders[0]])
    }

    @Test(arguments: TestStore.all) func aRelationshipWithoutAnInverseLeadsToATableOfItsMembers(_ kind: TestStore) throws {
        let shop = try Shop(kind)
        defer { shop.erase() }
        let keys = try shop.insert("Customer", (0..<80).map { ["name": .string("n\($0)"), "isActive": .bool($0 % 2 == 0)] })
        try shop.link("Customer.friends", keys[1...].map { LinkPair(owner: keys[0], rank: 0, member: $0) })
        let page = shop.page("/o/Customer/\(keys[0])")
        let all = try #require(page.all(#"class="more" href="([^"]*)">all 79<"#).first)
        let table = shop.page(all.replacingOccurrences(of: "&amp;", with: "&"))
        #expect(table.rowKeys == Array(keys[1...50]))
        #expect(table.contains("1–50 of <b>79</b>"))
        #expect(shop.page(try #require(table.link("next"))).rowKeys == Array(keys[51...]))
        let some = shop.page("\(all)&where=isActive+%3D%3D+TRUE")
        #expect(some.contains("of <b>39</b>"))
    }

    @Test func attributesOfParentsAndTheTypeAreNamed() throws {
        let shop = try Shop(.memory)
        let key = try shop.insert("Customer", [["name": .string("Ada"), "isActive": .bool(true), "credit": .decimal(12.5)]])[0]
        // Also below the parent, whose hierarchy the object belongs to.
        for address in ["/o/Customer/\(key)", "/o/Person/\(key)"] {
            let page = shop.page(address)
            #expect(page.contains(#"title="inherited from Person""#))
            #expect(page.contains("12.5") && page.contains("decimal?") && page.contains(#"<span class="bool">true</span>"#))
            #expect(page.contains(#"<a href="/e/Person">Person</a>"#))
        }
        #expect(shop.browser.answer("/o/Employee/\(key)").status == 404)
    }

    @Test func aMissingObjectAndAWrongAddressAreNotFound() throws {
        let shop = try Shop(.memory)
        try shop.insert("Tag", [["name": .string("x")]])
        for (address, sentence) in [
            ("/o/Order/5", "There is no object Order 5"), ("/o/Ordr/1", "did you mean &quot;Order&quot;?"), ("/e/Ordr", "did you mean"),
            ("/o/Order/x", "not the key of an object"), ("/x", "no page at this address"),
            ("/o/Tag/1/nam", "did you mean &quot;name&quot;?"),
            ("/o/Order/99999999999999999999", "not the key"), ("/e/%FF%FE", "no entity"),
        ] {
            let answer = shop.browser.answer(address)
            #expect(answer.status == 404 && answer.body.contains(sentence), "\(address): \(answer.body.all("<p>(.*?)</p>"))")
        }
    }

    @Test(arguments: TestStore.all) func longTextsAndDataAreCutAndShownWholeOnAPage(_ kind: TestStore) throws {
        let shop = try Shop(kind)
        defer { shop.erase() }
        let long = String(repeating: "ä<&>\u{301}", count: 2000)
        let key = try shop.insert("Order", [["number": .int(1), "note": .string(long)]])[0]
        let photo = Data((0..<6000).map { UInt8(truncatingIfNeeded: $0) })
        let customer = try shop.insert("Customer", [["name": .string("A"), "isActive": .bool(false), "photo": .data(photo)]])[0]

        let table = shop.page("/e/Order"), object = shop.page("/o/Order/\(key)")
        #expect(table.utf8.count < 12_000 && !table.contains("\u{fffd}"))
        #expect(object.contains("show whole (14 KB)") && object.utf8.count < 30_000 && !object.contains("\u{fffd}"))
        let whole = shop.page("/o/Order/\(key)/note")
        let shown = try #require(whole.all(#"<pre class="whole">(.*?)</pre>"#).first)
        #expect(shown.utf8.elementsEqual(String(repeating: "ä&lt;&amp;&gt;\u{301}", count: 2000).utf8))

        #expect(shop.page("/e/Customer").contains(#"00 01 02 03 04 05 06 07…</span> <span class="size">5.9 KB"#))
        let bytes = shop.page("/o/Customer/\(customer)/photo")
        #expect(bytes.contains("The first 4 KB of 5.9 KB.") && bytes.contains("000ff0  f0 f1"))
    }

    @Test func everythingFromTheStoreIsEscaped() throws {
        let attack = "<script>alert(1)</script>\"'&\u{0}\u{1b}"
        let schema = try Schema(entities: [Entity("Note", attributes: [Attribute("text", .string, isOptional: true)])])
        let store = try OpenStore(opening: TestStore.memory.make(), OpenRequest(schema: schema)), writer = try store.beginWrite()
        let source = RowSource(count: 1) { _, batch in
            batch.appendRow(key: 1, version: 1, entity: 0, slots: 1).initialize(
                to: batch.cell(for: .string("<script>alert(1)</script>\"'")))
        }
        try writer.apply(ChangeSet(entities: [EntityChanges(entity: 0, inserts: source)]))
        _ = try writer.commit(CommitRecord(author: attack.replacingOccurrences(of: "\u{0}", with: "")))
        writer.end()
        let browser = StoreBrowser(store, name: attack), entity = "Note"
        let events = try { () throws -> String in
            var position: Int64? = 0
            return try browser.events(after: &position)
        }()
        let addresses = [
            "/", "/e/\(entity)", "/o/\(entity)/1", "/schema", "/history", "/e/<script>", "/e/\(entity)?where=%3Cscript%3E", "/%3Cb%3E",
        ]
        for text in addresses.map({ browser.answer($0).body }) + [events] {
            #expect(!text.contains("<script>") && !text.contains("<b>\"") && !text.contains("<i>"), "\(text)")
            #expect(!text.unicodeScalars.contains { $0.value < 32 && $0 != "\n" && $0 != "\t" })
            // Nothing is loaded from elsewhere, and no handler is within the page.
            #expect(text.all(#"(?:src|href|action)="([^"]*)""#).allSatisfy { $0.isEmpty || $0.hasPrefix("/") || $0.hasPrefix("#") })
            #expect(text.all(#"\s(on[a-z]+|style)="#).isEmpty)
        }
    }
}
