import Foundation
import Polystore
import PolystoreLMDB
import PolystoreSQLite
import TestStores
import Testing

/// Files with the option `recreateStoreOnModelMismatch`: which of them are migrated, and which are created again.
@Suite struct RecreationTests {
    enum Addition: CaseIterable { case synchronous, asynchronous }

    private static let kinds: [TestStore] = [.sqlite, .lmdb]

    private static func path() -> String {
        FileManager.default.temporaryDirectory.appendingPathComponent("polystore-\(UUID().uuidString)").path
    }

    private static func store(
        _ kind: TestStore, _ path: String, _ options: LocalStorageOptions = .recreateStoreOnModelMismatch
    ) -> any LocalStorage {
        kind == .sqlite ? SQLiteStore(path: path, localStorageOptions: options) : LMDBStore(path: path, localStorageOptions: options)
    }

    private static let optionalX = Attribute("x", .int64, isOptional: true), optionalY = Attribute("y", .int64, isOptional: true)

    private static func schema(_ attributes: [Attribute], unique: [String] = [], version: String = "1") throws -> Schema {
        let constraints = unique.isEmpty ? [] : [UniqueConstraint(unique)]
        return try Schema(
            version: version, entities: [Entity("Note", attributes: attributes, uniqueConstraints: constraints), Entity("Empty")])
    }

    /// Stores two notes whose `x` is 1 and whose `y` is nil.
    private static func fill(_ store: any StorageInterface) throws {
        let stack = try DataStack(schema: schema([optionalX, optionalY]))
        try stack.addStorageAndWait(store)
        try stack.perform(synchronous: { transaction in
            for _ in 0..<2 { try transaction.create(Into<DynamicObject>(entity: "Note")).setValue(.int(1), for: "x") }
        })
        try stack.removeStorage(store)
    }

    private static func add(_ store: any StorageInterface, _ stack: DataStack, _ addition: Addition) async throws {
        switch addition {
        case .synchronous: try stack.addStorageAndWait(store)
        case .asynchronous: try await stack.addStorage(store)
        }
    }

    private static func values(_ name: String, _ stack: DataStack) throws -> [Value] {
        try stack.fetchAll(From<DynamicObject>(entity: "Note")).map { try $0.value(name) }
    }

    @Test(arguments: kinds, Addition.allCases) func aStoreIsMigratedWhereThatIsPossible(_ kind: TestStore, _ addition: Addition)
        async throws
    {
        let path = Self.path(), store = Self.store(kind, path)
        defer { try? store.erase() }
        try Self.fill(Self.store(kind, path, []))
        let stack = try DataStack(schema: Self.schema([Self.optionalX, Self.optionalY, Attribute("z", .int64, defaultValue: .int(3))]))
        try await Self.add(store, stack, addition)
        #expect(try Self.values("x", stack) == [.int(1), .int(1)])
        #expect(try Self.values("z", stack) == [.int(3), .int(3)])
    }

    @Test(arguments: kinds, Addition.allCases) func theRemovalOfAnAttributeKeepsTheObjects(_ kind: TestStore, _ addition: Addition)
        async throws
    {
        let path = Self.path(), store = Self.store(kind, path)
        defer { try? store.erase() }
        try Self.fill(Self.store(kind, path, []))
        let stack = try DataStack(schema: Self.schema([Self.optionalY]))
        try await Self.add(store, stack, addition)
        #expect(try Self.values("y", stack) == [.null, .null])
    }

    @Test(arguments: TestStore.all.filter { $0 != .memory }) func withoutTheOptionALossIsRefused(_ kind: TestStore) async throws {
        let store = kind.make()
        defer { try? store.erase() }
        try Self.fill(store)
        let stack = try DataStack(schema: Self.schema([Self.optionalY]))
        for (addition, code) in [(Addition.synchronous, StorageError.Code.schemaMismatch), (.asynchronous, .dataLossRefused)] {
            let refused = await #expect(throws: StorageError.self) { try await Self.add(store, stack, addition) }
            #expect(refused?.code == code)
        }
        let same = try DataStack(schema: Self.schema([Self.optionalX, Self.optionalY]))
        try same.addStorageAndWait(store)
        #expect(try Self.values("x", same) == [.int(1), .int(1)])
    }

    @Test(arguments: kinds, Addition.allCases) func aStoreWithoutAPathIsCreatedAgain(_ kind: TestStore, _ addition: Addition) async throws {
        let path = Self.path(), store = Self.store(kind, path)
        defer { try? store.erase() }
        try Self.fill(Self.store(kind, path, []))
        // The store has another "V1" than the history.
        let history = try SchemaHistory(
            Self.schema([Self.optionalX]), Self.schema([Self.optionalX], version: "2"), migrationChain: ["1", "2"])
        let refused = await #expect(throws: StorageError.self) {
            let options: LocalStorageOptions = .allowSynchronousLightweightMigration
            try await Self.add(Self.store(kind, path, options), DataStack(schemaHistory: history), addition)
        }
        #expect(refused?.code == .noMigrationPath)
        let stack = try DataStack(schemaHistory: history)
        try await Self.add(store, stack, addition)
        #expect(try Self.values("x", stack).isEmpty)
    }

    @Test(arguments: kinds, Addition.allCases) func aStoreWhoseObjectsViolateARuleIsCreatedAgain(
        _ kind: TestStore, _ addition: Addition
    ) async throws {
        for (schema, code) in [
            (try Self.schema([Self.optionalX, Attribute("y", .int64)]), StorageError.Code.validationFailed),
            (try Self.schema([Self.optionalX, Self.optionalY], unique: ["x"]), .uniqueConstraintViolated),
        ] {
            let path = Self.path(), store = Self.store(kind, path)
            defer { try? store.erase() }
            try Self.fill(Self.store(kind, path, []))
            let refused = await #expect(throws: StorageError.self) {
                let options: LocalStorageOptions = .allowSynchronousLightweightMigration
                try await Self.add(Self.store(kind, path, options), DataStack(schema: schema), addition)
            }
            #expect(refused?.code == code)
            let stack = try DataStack(schema: schema)
            try await Self.add(store, stack, addition)
            #expect(try Self.values("x", stack).isEmpty)
        }
    }

    private struct Stop: Error {}

    /// Two versions with a stage that always fails.
    private static func stoppedHistory(_ old: Schema, _ new: Schema, _ error: any Error = Stop()) throws -> SchemaHistory {
        var history = try SchemaHistory(old, new, migrationChain: ["1", "2"])
        history.stages = [MigrationStage(from: "1", to: "2", postMigration: { _ in throw error })]
        return history
    }

    @Test(arguments: kinds) func theErrorOfAStageOfTheProgramKeepsTheStore(_ kind: TestStore) async throws {
        let path = Self.path(), store = Self.store(kind, path)
        defer { try? store.erase() }
        try Self.fill(Self.store(kind, path, []))
        let old = try Self.schema([Self.optionalX, Self.optionalY])
        let history = try Self.stoppedHistory(old, Self.schema([Self.optionalX], version: "2"))
        await #expect(throws: StorageError.self) { try await DataStack(schemaHistory: history).addStorage(store) }
        // Nor does an error that objects could cause as well: the stage has created an object that violates a rule.
        for code in [StorageError.Code.validationFailed, .uniqueConstraintViolated, .noMigrationPath] {
            let error = StorageError(code, "an error of the stage")
            let failing = try Self.stoppedHistory(old, Self.schema([Self.optionalX], version: "2"), error)
            await #expect(throws: StorageError.self) { try await DataStack(schemaHistory: failing).addStorage(store) }
        }
        // A step in which the program takes part needs the asynchronous addition, and the store has objects.
        let refused = #expect(throws: StorageError.self) { try DataStack(schemaHistory: history).addStorageAndWait(store) }
        #expect(refused?.code == .schemaMismatch)
        let stack = try DataStack(schema: old)
        try stack.addStorageAndWait(store)
        #expect(try Self.values("x", stack) == [.int(1), .int(1)])
        try? FileManager.default.removeItem(atPath: path + ".1.backup")
    }

    @Test(arguments: kinds) func aStoreWithoutObjectsIsCreatedAgainInPlaceOfAStage(_ kind: TestStore) throws {
        let path = Self.path(), store = Self.store(kind, path)
        defer { try? store.erase() }
        let old = try Self.schema([Self.optionalX]), first = try DataStack(schema: old)
        try first.addStorageAndWait(store)
        try first.removeStorage(store)
        let history = try Self.stoppedHistory(old, Self.schema([Self.optionalX, Self.optionalY], version: "2"))
        let stack = try DataStack(schemaHistory: history)
        try stack.addStorageAndWait(store)
        #expect(try Self.values("y", stack).isEmpty)
    }
}
