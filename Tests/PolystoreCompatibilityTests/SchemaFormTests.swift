import Foundation
import PolystoreCompatibility
import TestStores
import Testing

/// CoreStore's further forms of a schema.
@Suite struct SchemaFormTests {
    class Shelf: CoreStoreObject {
        @Field.Stored("name", versionHashModifier: "a", previousVersionKeyPath: "title") var name: String = ""
        @Field.Coded("home", versionHashModifier: "a", coder: FieldCoders.Json.self) var home: Address?
        @Field.Relationship("items", inverse: \.$shelf, versionHashModifier: "a") var items: Set<Item>
    }

    class Item: CoreStoreObject {
        @Field.Stored("price") var price: Int = 0
        @Field.Relationship("shelf", versionHashModifier: nil) var shelf: Shelf?
    }

    class Label: CoreStoreObject {
        @Field.Stored("text") var text: String = ""
    }

    @Test func entitiesAreListedByConfiguration() throws {
        let expected = try CoreStoreSchema(
            modelVersion: "V1", entities: [Entity<Shelf>("Shelf"), Entity<Item>("Item"), Entity<Label>("Label")],
            entityConfigurations: ["Shelf": ["A"], "Item": ["A"], "Label": ["A", "B"]])
        let listed = try CoreStoreSchema(
            modelVersion: "V1",
            entitiesByConfiguration: [
                "A": [Entity<Shelf>("Shelf"), Entity<Item>("Item"), Entity<Label>("Label")], "B": [Entity<Label>("Label")],
            ])
        #expect(listed.schema == expected.schema && listed.models.count == 3)
        let keyed = try CoreStoreSchema(
            modelVersion: "V1",
            entityConfigurations: [Entity<Shelf>("Shelf"): ["A"], Entity<Item>("Item"): ["A"], Entity<Label>("Label"): ["A", "B"]])
        #expect(keyed.schema == expected.schema)
        let stack = try DataStack(listed)
        try stack.addStorageAndWait(TestStore.memory.make(configuration: "B"))
        try stack.perform(synchronous: { _ = try $0.create(Into<Label>("B")) })
        #expect(try stack.fetchCount(From<Label>("B")) == 1)
    }

    @Test func twoClassesOfAnEntityAreRefused() throws {
        #expect(throws: StorageError.self) {
            try CoreStoreSchema(modelVersion: "V1", entitiesByConfiguration: ["A": [Entity<Item>("Item")], "B": [Entity<Walk>("Item")]])
        }
    }

    private func schema(_ version: String, _ modifier: String?) throws -> CoreStoreSchema {
        try CoreStoreSchema(
            modelVersion: version,
            entities: [
                Entity(Shelf.self, "Shelf", versionHashModifier: modifier), Entity<Item>("Item", versionHashModifier: modifier),
            ])
    }

    @Test func theModifierOfAVersionsHashHasNoEffect() throws {
        #expect(try schema("V1", nil).versionLock == schema("V1", "a").versionLock)
        #expect(try schema("V1", nil).schema == schema("V1", "a").schema)
    }

    @Test func versionsThatDifferOnlyInTheirNamesAreConvertedByAStage() async throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("polystore_\(UUID().uuidString.lowercased()).db")
        let old = try schema("V1", nil), new = try schema("V2", "prices are cents"), before = try DataStack(old)
        let storage = try before.addStorageAndWait(SQLiteStore(fileURL: url))
        try before.perform(synchronous: { try $0.create(Item.self).price = 3 })
        try before.removeStorage(storage)
        var history = try SchemaHistory(old, new, migrationChain: ["V1": "V2"])
        history.stages = [
            MigrationStage(
                from: "V1", to: "V2", destinationModels: [Shelf.self, Item.self],
                postMigration: { context in
                    try context.perform { transaction in
                        for item in try transaction.fetchAll(From<Item>()) { item.price *= 100 }
                    }
                })
        ]
        let after = try DataStack(schemaHistory: history), migrated = SQLiteStore(fileURL: url)
        _ = try await after.addStorage(migrated)
        #expect(try after.fetchAll(From<Item>()).map(\.price) == [300])
        try migrated.erase()
    }
}
