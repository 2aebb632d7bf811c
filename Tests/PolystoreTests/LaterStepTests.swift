import Foundation
import Polystore
import TestStores
import Testing

/// What a chain of steps loses, and what the work of a program after a step may fill.
@Suite struct LaterStepTests {
    private static let kinds = TestStore.all.filter { $0 != .memory }

    /// A store of a place of its own, with notes of the given values.
    private struct Scene {
        let kind: TestStore
        let name = "polystore_\(UUID().uuidString.lowercased())"

        init(_ kind: TestStore, _ schema: Schema, _ notes: [[String: Value]]) throws {
            self.kind = kind
            let stack = try DataStack(schema: schema), store = store()
            try stack.addStorageAndWait(store)
            try stack.perform(synchronous: { transaction in
                for values in notes {
                    let note = try transaction.create(Into<DynamicObject>(entity: "Note"))
                    for (name, value) in values { try note.setValue(value, for: name) }
                }
            })
            try stack.removeStorage(store)
        }

        func store() -> any StorageInterface { kind.make(named: name) }

        func losses(_ history: SchemaHistory) throws -> [[String]] {
            try DataStack(schemaHistory: history).requiredMigrations(for: store()).map { $0.losses.map(\.path) }
        }
    }

    private static func note(_ version: String, _ attributes: Attribute...) throws -> Schema {
        try Schema(version: version, entities: [Entity("Note", attributes: attributes)])
    }

    private static let name = Attribute("name", .string, defaultValue: .string("")), mail = Attribute("mail", .string, isOptional: true)
    private static let email = Attribute("email", .string, isOptional: true, originalName: "mail")

    @Test(arguments: kinds) func lossesOfLaterStepsAreKnownAndRefusedBeforeTheFirst(_ kind: TestStore) async throws {
        let one = try Self.note("V1", Self.name, Self.mail), two = try Self.note("V2", Self.name, Self.email)
        let three = try Self.note("V3", Attribute("label", .string, defaultValue: .string(""), originalName: "name"))
        var history = try SchemaHistory(one, two, three, migrationChain: ["V1", "V2", "V3"])
        let scene = try Scene(kind, one, [["name": .string("a"), "mail": .string("a@x")], ["name": .string("b")]])
        #expect(try scene.losses(history) == [[], ["Note.email"]])
        let stack = try DataStack(schemaHistory: history)
        await #expect { try await stack.addStorage(scene.store()) } throws: { error in
            (error as? StorageError)?.code == .dataLossRefused && "\(error)".contains(#"the step "V2" → "V3""#)
        }
        // No step was run.
        #expect(try scene.losses(history) == [[], ["Note.email"]])
        history.acceptedLosses = ["Note.email"]
        #expect(try scene.losses(history) == [[], []])
        let current = try DataStack(schemaHistory: history), store = scene.store()
        try await current.addStorage(store)
        #expect(try current.fetchAll(From<DynamicObject>(entity: "Note")).map { try $0.value("label") } == [.string("a"), .string("b")])
        // Without such values nothing is lost.
        let bare = try Scene(kind, one, [["name": .string("a")]])
        history.acceptedLosses = []
        #expect(try bare.losses(history) == [[], []])
        let other = try DataStack(schemaHistory: history), another = bare.store()
        try await other.addStorage(another)
        for (stack, store) in [(current, store), (other, another)] {
            try stack.removeStorage(store)
            try store.erase()
        }
    }

    @Test(arguments: kinds) func whatAnEarlierStepAddsIsLostAsFarAsItIsKnown(_ kind: TestStore) throws {
        let one = try Self.note("V1", Self.name)
        let three = try Self.note("V3", Attribute("label", .string, defaultValue: .string(""), originalName: "name"))
        let stars = Attribute("stars", .int64, defaultValue: .int(3)), due = Attribute("due", .date, isOptional: true)
        var history = try SchemaHistory(one, Self.note("V2", Self.name, stars, due), three, migrationChain: ["V1", "V2", "V3"])
        let scene = try Scene(kind, one, [["name": .string("a")]]), empty = try Scene(kind, one, [])
        #expect(try scene.losses(history) == [[], ["Note.stars"]])
        #expect(try empty.losses(history) == [[], []])
        // What a program writes in a step is not known before.
        history.stages = [MigrationStage(from: "V1", to: "V2", postMigration: { _ in })]
        #expect(try scene.losses(history) == [[], []])
        for scene in [scene, empty] { try scene.store().erase() }
    }

    // MARK: Required values

    private static func foldered() throws -> Schema {
        try Schema(
            version: "V2",
            entities: [
                Entity("Note", attributes: [name], relationships: [Relationship("folder", to: "Folder", .toOne, isOptional: false)]),
                Entity("Folder"),
            ])
    }

    private static func copying(_ isCopying: Bool) -> [any SchemaMappingProvider] {
        let copy = CustomSchemaMappingProvider.CustomMapping.transformEntity(
            sourceEntity: "Note", destinationEntity: "Note", transformer: CustomSchemaMappingProvider.inferredTransformation)
        return isCopying ? [CustomSchemaMappingProvider(from: "V1", to: "V2", entityMappings: [copy])] : []
    }

    @Test(arguments: kinds, [false, true])
    func aRequiredRelationshipCanBeFilledAfterTheStep(_ kind: TestStore, _ isCopying: Bool) throws {
        let one = try Self.note("V1", Self.name), two = try Self.foldered()
        let scene = try Scene(kind, one, [["name": .string("a")], ["name": .string("b")]])
        func migrate(_ fills: Bool) throws {
            var history = try SchemaHistory(one, two, migrationChain: ["V1", "V2"])
            history.backsUpFiles = false
            history.stages = [
                MigrationStage(
                    from: "V1", to: "V2",
                    postMigration: { context in
                        try context.perform { transaction in
                            let folder = try transaction.create(Into<DynamicObject>(entity: "Folder"))
                            guard fills else { return }
                            for note in try transaction.fetchAll(From<DynamicObject>(entity: "Note")) {
                                try note.setObject(folder, for: "folder")
                            }
                        }
                    })
            ]
            let storage = scene.store(), store = try OpenStore(opening: storage, OpenRequest(schema: nil, createIfMissing: false))
            defer { try? storage.close() }
            try MigrationRunner(history, store, mappingProviders: Self.copying(isCopying)).run()
        }
        let error = #expect(throws: StorageError.self) { try migrate(false) }
        #expect(error?.code == .validationFailed && error?.details.property == "folder" && error?.details.keys == [1, 2])
        try migrate(true)
        let stack = try DataStack(schema: two), store = scene.store()
        try stack.addStorageAndWait(store)
        #expect(try stack.fetchAll(From<DynamicObject>(entity: "Note")).map { try $0.object("folder")?._key } == [1, 1])
        try stack.removeStorage(store)
        try store.erase()
    }
}
