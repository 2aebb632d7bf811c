import Foundation
import Polystore
import TestStores
import Testing

/// Several stores of an older version in one stack with a chain of versions.
@Suite struct SeveralStoresMigrationTests {
    private static func schema(_ version: String, _ attributes: [Attribute] = []) throws -> Schema {
        try Schema(
            version: version,
            entities: [
                Entity("Note", attributes: [Attribute("title", .string)] + attributes),
                Entity("Tag", attributes: [Attribute("name", .string)]),
            ], configurations: ["Notes": ["Note"], "Tags": ["Tag"]])
    }

    private static func history() throws -> SchemaHistory {
        let stars = Attribute("stars", .int64, defaultValue: .int(3))
        return try SchemaHistory(
            schema("V1"), schema("V2", [stars]), schema("V3", [stars, Attribute("text", .string, isOptional: true)]),
            migrationChain: ["V1", "V2", "V3"])
    }

    /// Stores one object in a store of an old version.
    private static func fill(_ store: any StorageInterface, _ version: Schema, _ entity: String, _ property: String) throws {
        let stack = try DataStack(schema: version)
        try stack.addStorageAndWait(store)
        try stack.perform(synchronous: { try $0.create(Into<DynamicObject>(entity: entity)).setValue(.string("a"), for: property) })
        try stack.removeStorage(store)
    }

    @Test(arguments: TestStore.all.filter { $0 != .memory }) func theChainAppliesToEveryStore(_ kind: TestStore) async throws {
        let notes = kind.make(configuration: "Notes"), tags = TestStore.sqlite.make(configuration: "Tags")
        defer { for store in [notes, tags] { try? store.erase() } }
        let history = try Self.history()
        try Self.fill(notes, history.schemas[0], "Note", "title")
        // The second store has another version than the first.
        try Self.fill(tags, history.schemas[1], "Tag", "name")
        let stack = try DataStack(schemaHistory: history)
        #expect(
            try stack.requiredMigrations(for: notes).map(\.type.description) == [
                #""V1" → "V2" (lightweight)"#, #""V2" → "V3" (lightweight)"#,
            ])
        #expect(try stack.requiredMigrations(for: tags).map(\.type.description) == [#""V2" → "V3" (lightweight)"#])
        try await stack.addStorage(notes)
        try await stack.addStorage(tags)
        let note = try #require(try stack.fetchOne(From<DynamicObject>(entity: "Note")))
        #expect(try note.value("title") == .string("a") && note.value("stars") == .int(3) && note.value("text") == .null)
        #expect(try stack.fetchAll(From<DynamicObject>(entity: "Tag")).map { try $0.value("name") } == [.string("a")])
        for store in [notes, tags] {
            #expect(try stack.requiredMigrations(for: store).isEmpty)
            try stack.removeStorage(store)
            #expect(try stack.requiredMigrations(for: store).isEmpty)
        }
    }
}
