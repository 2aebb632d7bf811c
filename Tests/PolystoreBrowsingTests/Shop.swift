import Foundation
import Polystore
import PolystoreBrowsing
import TestStores

/// A store with customers, orders and tags, and a browser of it.
struct Shop {
    let store: OpenStore
    let browser: StoreBrowser
    var schema: Schema { store.schema }

    static func schema() throws -> Schema {
        try Schema(entities: [
            Entity(
                "Person", isAbstract: true,
                attributes: [Attribute("name", .string), Attribute("born", .date, isOptional: true)]),
            Entity(
                "Customer", parent: "Person",
                attributes: [
                    Attribute("credit", .decimal, isOptional: true), Attribute("isActive", .bool),
                    Attribute("photo", .data, isOptional: true),
                    Attribute("page", .url, isOptional: true), Attribute("identity", .uuid, isOptional: true),
                    Attribute("size", .double, isOptional: true), Attribute("rank", .int16, isOptional: true),
                ],
                relationships: [
                    Relationship("orders", to: "Order", .toMany, inverse: "customer"), Relationship("friends", to: "Customer", .toMany),
                ]),
            Entity("Employee", parent: "Person", attributes: [Attribute("room", .string, isOptional: true)]),
            Entity(
                "Order", attributes: [Attribute("number", .int64), Attribute("note", .string, isOptional: true)],
                relationships: [
                    Relationship("customer", to: "Customer", inverse: "orders"),
                    Relationship("tags", to: "Tag", .toMany, inverse: "orders"),
                ]),
            Entity(
                "Tag", attributes: [Attribute("name", .string)],
                relationships: [Relationship("orders", to: "Order", .toMany, inverse: "tags")],
                uniqueConstraints: [UniqueConstraint(["name"])]),
        ])
    }

    /// Creates an empty shop.
    init(_ kind: TestStore) throws {
        store = try OpenStore(opening: kind.make(), OpenRequest(schema: Self.schema()))
        browser = StoreBrowser(store, name: "shop")
    }

    func erase() { try? store.erase() }

    /// Inserts objects of an entity, with the given values of properties.
    @discardableResult
    func insert(_ name: String, _ rows: [[String: Value]], author: String = "tests") throws -> [Int64] {
        let entity = schema.index(of: name) ?? 0, slots = schema[entity].slots
        let writer = try store.beginWrite()
        defer { writer.end() }
        var keys: [Int64] = []
        while keys.count < rows.count { keys += try writer.reserveKeys(entity, count: rows.count - keys.count) }
        let all = keys
        let source = RowSource(count: rows.count) { range, batch in
            for index in range {
                let cells = batch.appendRow(key: all[index], version: 1, entity: entity, slots: slots.count)
                for (slot, description) in slots.enumerated() {
                    (cells + slot).initialize(to: batch.cell(for: rows[index][description.name] ?? .null))
                }
            }
        }
        try writer.apply(ChangeSet(entities: [EntityChanges(entity: entity, inserts: source)]))
        _ = try writer.commit(CommitRecord(author: author))
        return keys
    }

    /// Inserts persons with the given keys.
    func load(_ name: String, _ keys: [Int64]) throws {
        let entity = schema.index(of: name) ?? 0, slots = schema[entity].slots, batch = RowBatch(capacity: keys.count)
        for key in keys.sorted() {
            let cells = batch.appendRow(key: key, version: 1, entity: entity, slots: slots.count)
            for (slot, description) in slots.enumerated() {
                let value: Value = description.name == "name" ? .string("n") : description.type == .bool ? .bool(true) : .null
                (cells + slot).initialize(to: batch.cell(for: value))
            }
        }
        let writer = try store.beginWrite()
        defer { writer.end() }
        try writer.load(schema[entity].root, batch)
        _ = try writer.commit(CommitRecord())
    }

    func delete(_ name: String, _ key: Int64, author: String = "tests") throws {
        let writer = try store.beginWrite()
        defer { writer.end() }
        try writer.apply(ChangeSet(entities: [EntityChanges(entity: schema.index(of: name) ?? 0, deletes: [RowDeletion(key: key)])]))
        _ = try writer.commit(CommitRecord(author: author))
    }

    func link(_ name: String, _ pairs: [LinkPair]) throws {
        let writer = try store.beginWrite()
        defer { writer.end() }
        try writer.load(link: schema.links.firstIndex { $0.name == name } ?? 0, pairs)
        _ = try writer.commit(CommitRecord())
    }

    /// Returns the page at an address.
    func page(_ address: String) -> String { browser.answer(address).body }
}

extension String {
    /// Returns the parts of the text that the first group of a pattern matches.
    func all(_ pattern: String) -> [String] {
        guard let expression = try? NSRegularExpression(pattern: pattern, options: [.dotMatchesLineSeparators]) else { return [] }
        return expression.matches(in: self, range: NSRange(startIndex..., in: self)).compactMap { match in
            Range(match.range(at: 1), in: self).map { String(self[$0]) }
        }
    }

    /// The keys of the rows of a table, in their order.
    var rowKeys: [Int64] { all(#"<td class="number key"><a[^>]*>(-?\d+)</a>"#).compactMap { Int64($0) } }

    /// The address of the link with a relation, decoded.
    func link(_ relation: String) -> String? {
        all(#"rel="\#(relation)" href="([^"]*)""#).first?.replacingOccurrences(of: "&amp;", with: "&")
    }
}
