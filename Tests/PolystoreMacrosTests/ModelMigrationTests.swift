#if Macros
import Foundation
import PolystoreMacros
import RawSessions
import Synchronization
import TestStores
import Testing

/// Both versions of a class, as the macro declares them, in the step between them.
@Suite struct ModelMigrationTests {
    private static let mapping = CustomSchemaMappingProvider(
        from: "V1", to: "V2",
        entityMappings: [
            .transformEntity(sourceEntity: "Animal", destinationEntity: "Dog") { source, create in
                let dog = create()
                dog["name"] = source["nickname"]
                dog["weight"] = Double((source["nickname"] as? String ?? "").count)
            }
        ])

    /// V1.Animal becomes V2.Dog; the nameless get a name before, those called Rex an owner and a year after.
    private static func history(_ seen: Seen) throws -> SchemaHistory {
        let models: [ManagedObject.Type] = [V2.Animal.self, V2.Dog.self, V2.Owner.self]
        var history = try SchemaHistory(
            DataStack(V1.Animal.self, version: "V1").schema,
            DataStack(V2.Animal.self, V2.Dog.self, V2.Owner.self, version: "V2").schema, migrationChain: ["V1", "V2"], models: models)
        history.stages = [
            MigrationStage(
                from: "V1", to: "V2", sourceModels: [V1.Animal.self],
                preMigration: { context in
                    try context.perform { transaction in
                        for animal in try transaction.fetchAll(From<V1.Animal>().where(\.nickname == "")) { animal.nickname = "Nobody" }
                    }
                },
                postMigration: { context in
                    try context.perform { transaction in
                        let owner = try transaction.create(V2.Owner.self)
                        owner.name = "Ann"
                        for dog in try transaction.fetchAll(From<V2.Dog>().where(\.nickname == "Rex")) {
                            dog.owner = owner
                            dog.age += 1
                        }
                    }
                    try context.perform { transaction in
                        for animal in try transaction.fetchAll(From<V2.Animal>()) {
                            seen.lines.withLock { $0.append("\(type(of: animal)) \(animal.nickname) \(animal.owner?.name ?? "-")") }
                        }
                    }
                })
        ]
        return history
    }

    private func fill(_ stack: DataStack) throws {
        try stack.perform(synchronous: { transaction in
            for name in ["Rex", "", "Tom"] { try transaction.create(V1.Animal.self).nickname = name }
        })
    }

    /// The rows of an entity by its names: key and values.
    private func rows(_ store: any StorageInterface, _ schema: Schema, _ name: String) throws -> [String] {
        let entity = try #require(schema.index(of: name)), reader = try store.beginRead(), batch = RowBatch()
        defer { reader.end() }
        let cursor = try reader.cursor(for: FetchPlan(schema, entity))
        var rows: [String] = []
        while try cursor.next(into: batch) {
            for index in 0..<batch.count {
                let row = batch.row(index), slots = schema[row.entity].slots
                let values = slots.indices.map { "\(slots[$0].name) \((Value(row[$0], as: slots[$0].type) ?? .null).typed)" }
                rows.append("\(row.key) \(schema.entities[row.entity].name) \(values.sorted().joined(separator: ", "))")
            }
        }
        return rows
    }

    @Test(arguments: TestStore.all) func aMappingAndAStageUseBothVersionsOfAClass(_ kind: TestStore) async throws {
        let store = kind.make(), seen = Seen()
        defer { try? store.erase() }
        let history = try Self.history(seen), old = try DataStack(V1.Animal.self, version: "V1")
        try old.addStorageAndWait(store)
        try fill(old)
        let state = StorageState(storeID: UUID(), schema: history.schemas[0], formatVersion: 1, wasCreated: false)
        let steps = try MigrationRunner(history, OpenStore(store, state), mappingProviders: [Self.mapping]).run()
        #expect(steps == [.heavyweight(sourceVersion: "V1", destinationVersion: "V2")])
        #expect(seen.lines.withLock { $0 } == ["Dog Rex Ann", "Dog Nobody -", "Dog Tom -"])
        #expect(
            try rows(store, history.currentSchema, "Animal") == [
                #"1 Dog age int(4), name string("Rex"), owner int(1), weight double(3.0)"#,
                #"2 Dog age int(3), name string("Nobody"), owner null, weight double(6.0)"#,
                #"3 Dog age int(3), name string("Tom"), owner null, weight double(3.0)"#,
            ])
        #expect(try rows(store, history.currentSchema, "Owner") == [#"1 Owner name string("Ann")"#])
        try old.removeStorage(store)
        // What is in memory is gone with its store.
        if kind == .memory { return }
        let stack = try DataStack(schemaHistory: history)
        try stack.addStorageAndWait(store)
        let dogs = try stack.fetchAll(From<V2.Dog>().orderBy(.ascending(\.nickname)))
        #expect(dogs.map(\.nickname) == ["Nobody", "Rex", "Tom"])
        #expect(dogs.map(\.years) == [21, 28, 21])
        #expect(dogs.map(\.weight) == [6, 3, 3])
        #expect(try stack.fetchOne(From<V2.Owner>())?.animals.map(\.nickname) == ["Rex"])
        try stack.perform(synchronous: { try $0.create(V2.Dog.self).nickname = "Pip" })
        #expect(try stack.fetchCount(From<V2.Animal>()) == 4)
        try stack.removeStorage(store)
    }
}

/// What a stage saw.
private final class Seen: Sendable {
    let lines = Mutex<[String]>([])
}
#endif
