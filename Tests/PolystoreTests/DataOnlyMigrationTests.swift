import Foundation
import Polystore
import PolystoreSQLite
import PolystoreStorage
import TestStores
import Testing

/// Steps between versions whose models are equal: only the work of the program makes them different.
@Suite struct DataOnlyMigrationTests {
    private static let persistent = TestStore.all.filter { $0 != .memory }

    private static let singers = From<DynamicObject>(entity: "Singer")

    private static func schema(_ version: String) throws -> Schema {
        try Schema(version: version, entities: [Entity("Singer", attributes: [Attribute("name", .string, defaultValue: .string(""))])])
    }

    private static func names(_ objects: [DynamicObject]) throws -> [String] {
        try objects.map { if case .string(let name) = try $0.value("name") { name } else { "" } }
    }

    /// A chain of equal versions, in which the step to each listed version appends the name of that version to every singer.
    private static func history(_ versions: [String], working: [String]) throws -> SchemaHistory {
        var schemas: [Schema] = []
        for version in versions { schemas.append(try schema(version)) }
        var history = try SchemaHistory(schemas: schemas, migrationChain: MigrationChain(versions))
        history.stages = zip(versions, versions.dropFirst()).filter { working.contains($0.1) }.map { source, destination in
            MigrationStage(
                from: source, to: destination,
                postMigration: { context in
                    try context.perform { transaction in
                        for singer in try transaction.fetchAll(singers) {
                            try singer.setValue(.string(try names([singer])[0] + destination), for: "name")
                        }
                    }
                })
        }
        history.backsUpFiles = false
        return history
    }

    private static func fill(_ store: any StorageInterface, _ version: String) throws {
        let stack = try DataStack(schema: schema(version))
        try stack.addStorageAndWait(store)
        try stack.perform(synchronous: { try $0.create(Into<DynamicObject>(entity: "Singer")).setValue(.string("Ann"), for: "name") })
        try stack.removeStorage(store)
    }

    /// The names of all singers after the store was opened with a history, and the version that it has then.
    private static func open(_ store: any StorageInterface, _ history: SchemaHistory) async throws -> [String] {
        let stack = try DataStack(schemaHistory: history)
        try await stack.add(store)
        let names = try names(stack.fetchAll(singers))
        try stack.removeStorage(store)
        let opened = try OpenStore(opening: store, OpenRequest(schema: nil, createIfMissing: false, readOnly: true))
        defer { try? opened.close() }
        return names + [opened.schema.version]
    }

    @Test(arguments: persistent) func theWorkOfAStageBetweenEqualVersionsIsDoneOnce(_ kind: TestStore) async throws {
        let store = kind.make()
        defer { try? store.erase() }
        try Self.fill(store, "a")
        let history = try Self.history(["a", "b"], working: ["b"])
        let step = MigrationType.heavyweight(sourceVersion: "a", destinationVersion: "b")
        #expect(try DataStack(schemaHistory: history).requiredMigrations(for: store).map(\.type) == [step])
        #expect(try history.migrations(from: Self.schema("a")) == [step])
        for _ in 0..<2 { #expect(try await Self.open(store, history) == ["Annb", "b"]) }
        #expect(try DataStack(schemaHistory: history).requiredMigrations(for: store).isEmpty)
    }

    @Test(arguments: persistent) func theWorkFollowsEqualVersionsWithoutWork(_ kind: TestStore) async throws {
        let store = kind.make()
        defer { try? store.erase() }
        try Self.fill(store, "a")
        #expect(try await Self.open(store, Self.history(["a", "b", "c", "d", "e"], working: ["c", "d"])) == ["Anncd", "d"])
        #expect(try await Self.open(store, Self.history(["a", "b", "c", "d", "e"], working: ["c", "d", "e"])) == ["Anncde", "e"])
    }

    @Test(arguments: persistent) func aProgramOfTheOlderVersionReadsAndWritesTheStore(_ kind: TestStore) async throws {
        let store = kind.make()
        defer { try? store.erase() }
        try Self.fill(store, "a")
        let history = try Self.history(["a", "b"], working: ["b"])
        _ = try await Self.open(store, history)
        try Self.fill(store, "a")
        // The work is not repeated for what the older program added.
        #expect(try await Self.open(store, history).sorted() == ["Ann", "Annb", "b"])
    }

    @Test func aStoreOfANewerProgramIsNotChanged() async throws {
        let store = TestStore.sqlite.make()
        defer { try? store.erase() }
        try Self.fill(store, "c")
        #expect(try await Self.open(store, Self.history(["a", "b"], working: ["b"])) == ["Ann", "c"])
    }

    // An LMDB store is open only once in a process.
    @Test(arguments: persistent.filter { $0 != .lmdb }) func aSecondProgramThatWaitedDoesNotRepeatTheWork(_ kind: TestStore) async throws {
        let name = "polystore_\(UUID().uuidString.lowercased())"
        let store = kind.make(named: name), second = kind.make(named: name)
        defer { try? store.erase() }
        try Self.fill(store, "a")
        let history = try Self.history(["a", "b"], working: ["b"])
        let waiting = try OpenStore(opening: second, OpenRequest(schema: nil, createIfMissing: false))
        #expect(try await Self.open(store, history) == ["Annb", "b"])
        let refusal = #expect(throws: StorageError.self) { try MigrationRunner(history, waiting).run() }
        #expect(refusal?.code == .schemaMismatch)
        try waiting.close()
        #expect(try await Self.open(store, history) == ["Annb", "b"])
    }

    @Test func aFailureOfTheWorkLeavesTheOlderVersion() async throws {
        let store = TestStore.sqlite.make()
        defer { try? store.erase() }
        try Self.fill(store, "a")
        var history = try Self.history(["a", "b"], working: [])
        history.stages = [
            MigrationStage(
                from: "a", to: "b",
                postMigration: { context in
                    try context.perform { transaction in try transaction.fetchOne(Self.singers)?.setValue(.string("Bob"), for: "name") }
                    throw StorageError(.validationFailed, "no")
                })
        ]
        await #expect(throws: StorageError.self) { _ = try await Self.open(store, history) }
        #expect(try await Self.open(store, SchemaHistory(Self.schema("a"))) == ["Ann", "a"])
    }

    @Test func aCallThatMustNotWaitForTheWorkIsRefused() throws {
        let store = TestStore.sqlite.make()
        defer { try? store.erase() }
        try Self.fill(store, "a")
        let stack = try DataStack(schemaHistory: Self.history(["a", "b"], working: ["b"]))
        let refusal = #expect(throws: StorageError.self) { try stack.addStorageAndWait(store) }
        #expect(refusal?.code == .schemaMismatch)
        #expect(
            refusal?.message.hasPrefix(
                #"the store has version "a" of the model, and the work of the program up to version "b" is required; a step"#) == true)
        #expect(refusal?.message.hasSuffix("add the store with addStorage") == true)
    }

    @Test func aMappingBetweenEqualVersionsIsRefused() async throws {
        let mapping = CustomSchemaMappingProvider(
            from: "a", to: "b",
            entityMappings: [
                .transformEntity(
                    sourceEntity: "Singer", destinationEntity: "Singer", transformer: CustomSchemaMappingProvider.inferredTransformation)
            ])
        let path = NSTemporaryDirectory() + "polystore_\(UUID().uuidString).db"
        let store = SQLiteStore(path: path, migrationMappingProviders: [mapping])
        defer { try? store.erase() }
        try Self.fill(store, "a")
        let refusal = await #expect(throws: StorageError.self) {
            _ = try await Self.open(store, Self.history(["a", "b"], working: []))
        }
        #expect(refusal?.code == .invalidConfiguration && refusal?.message.contains("MigrationStage") == true)
    }

    @Test(arguments: persistent) func aReadOnlyStoreOfAnotherVersionSaysWhatItNeeds(_ kind: TestStore) async throws {
        let name = "polystore_\(UUID().uuidString.lowercased())"
        let store = kind.make(named: name)
        defer { try? store.erase() }
        let older = try Schema(version: "1", entities: [Entity("Singer")])
        let first = try DataStack(schemaHistory: SchemaHistory(older))
        try first.addStorageAndWait(store)
        try first.removeStorage(store)
        let refusal = await #expect(throws: StorageError.self) {
            try await DataStack(schema: Self.schema("2")).add(kind.make(named: name, readOnly: true))
        }
        #expect(refusal?.code == .readOnly)
        #expect(
            refusal?.message
                == #"the store has version "1" of the model and must be migrated to "2", but it was opened read-only; open it once for "#
                + "writing, or read it with a program of its version")
    }
}

extension DataStack {
    /// Adds a store whose kind is not known.
    fileprivate func add(_ storage: some StorageInterface) async throws { try await addStorage(storage) }
}
