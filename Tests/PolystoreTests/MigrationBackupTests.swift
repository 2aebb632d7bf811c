import Foundation
import Polystore
import PolystoreLMDB
import PolystoreSQLite
import RawSessions
import Synchronization
import TestStores
import Testing

/// The copy of a file that is made before a program's own part of a step, and additions of stores that wait for small steps.
@Suite struct MigrationBackupTests {
    private static let files = [TestStore.sqlite, .lmdb]

    private func file(_ kind: TestStore) -> URL {
        FileManager.default.temporaryDirectory.appendingPathComponent("polystore_\(UUID().uuidString).\(kind.rawValue)")
    }

    private func store(
        _ kind: TestStore, _ file: URL, _ options: LocalStorageOptions = [], _ providers: [any SchemaMappingProvider] = []
    ) -> any LocalStorage {
        kind == .sqlite
            ? SQLiteStore(fileURL: file, localStorageOptions: options, migrationMappingProviders: providers)
            : LMDBStore(fileURL: file, localStorageOptions: options, migrationMappingProviders: providers)
    }

    /// A note has a text; in the second version it is called body and there are stars; in the third the stars are no number.
    private static func schema(_ version: Int) throws -> Schema {
        let text = version == 1 ? Attribute("text", .string) : Attribute("body", .string, originalName: version == 2 ? "text" : nil)
        let stars = Attribute("stars", version == 2 ? .int64 : .string, defaultValue: version == 2 ? .int(3) : .string("three"))
        return try Schema(version: "V\(version)", entities: [Entity("Note", attributes: version == 1 ? [text] : [text, stars])])
    }

    private static func fill(_ store: any StorageInterface) throws {
        let stack = try DataStack(schema: schema(1))
        try stack.addStorageAndWait(store)
        try stack.perform(synchronous: { transaction in
            for text in ["a", "b", "c"] {
                try transaction.create(Into<DynamicObject>(entity: "Note")).setValue(.string(text), for: "text")
            }
        })
        try stack.removeStorage(store)
    }

    private static func values(_ stack: DataStack, _ name: String) throws -> [Value] {
        try stack.fetchAll(From<DynamicObject>(entity: "Note")).map { try $0.value(name) }
    }

    /// What a copy of the first version holds.
    private static func texts(_ copy: any StorageInterface) throws -> [Value] {
        let stack = try DataStack(schema: schema(1))
        try stack.addStorageAndWait(copy)
        defer { try? stack.removeStorage(copy) }
        return try values(stack, "text")
    }

    private func code(_ body: () throws -> Void) -> StorageError.Code? {
        do { try body() } catch { return (error as? StorageError)?.code }
        return nil
    }

    // MARK: Copies

    /// Both kinds of a program's own part see a complete copy while they run, and what they throw leaves it there.
    @Test(arguments: files, [true, false]) func theCopyIsThereBeforeAProgramsPartRuns(_ kind: TestStore, _ isStage: Bool) async throws {
        struct Stop: Error {}
        let file = self.file(kind), copy = URL(fileURLWithPath: file.path + ".V1.backup"), seen = Mutex<[[Value]]>([])
        let look: @Sendable () throws -> Void = { [self] in
            let texts = try Self.texts(self.store(kind, copy))
            seen.withLock { $0.append(texts) }
        }
        let mapping = CustomSchemaMappingProvider(
            from: "V1", to: "V2",
            entityMappings: [
                .transformEntity(sourceEntity: "Note", destinationEntity: "Note") { source, create in
                    try look()
                    if source.key == 2 { throw Stop() }
                    create().copyAttributes(from: source)
                }
            ])
        let store = self.store(kind, file, [], isStage ? [] : [mapping])
        defer {
            try? store.erase()
            try? self.store(kind, copy).erase()
        }
        try Self.fill(store)
        var history = try SchemaHistory(Self.schema(1), Self.schema(2), migrationChain: ["V1", "V2"])
        if isStage {
            history.stages = [
                MigrationStage(
                    from: "V1", to: "V2",
                    preMigration: { context in
                        try look()
                        try context.perform { _ = try $0.deleteAll(From<DynamicObject>(entity: "Note")) }
                    },
                    postMigration: { _ in
                        try look()
                        throw Stop()
                    })
            ]
        }
        #expect(!FileManager.default.fileExists(atPath: copy.path))
        let stack = try DataStack(schemaHistory: history)
        await #expect { try await stack.addStorage(store) } throws: { ($0 as? StorageError)?.cause is Stop }
        let texts = ["a", "b", "c"].map(Value.string)
        #expect(seen.withLock { $0 } == [texts, texts])
        // The file itself is as it was, and so is the copy.
        #expect(try Self.texts(store) == texts)
        #expect(try Self.texts(self.store(kind, copy)) == texts)
    }

    @Test(arguments: files) func aStepThatFollowsFromTheSchemasNeedsNoCopy(_ kind: TestStore) async throws {
        let file = self.file(kind), store = self.store(kind, file)
        defer { try? store.erase() }
        try Self.fill(store)
        let stack = try DataStack(schemaHistory: SchemaHistory(Self.schema(1), Self.schema(2), migrationChain: ["V1", "V2"]))
        try await stack.addStorage(store)
        #expect(try Self.values(stack, "body") == ["a", "b", "c"].map(Value.string))
        #expect(!FileManager.default.fileExists(atPath: file.path + ".V1.backup"))
        try stack.removeStorage(store)
    }

    // MARK: Steps while the caller waits

    @Test(arguments: files) func aSynchronousAdditionTakesTheStepsThatItMay(_ kind: TestStore) throws {
        let file = self.file(kind), plain = self.store(kind, file), allowing = self.store(kind, file, .allowSynchronousLightweightMigration)
        defer { try? plain.erase() }
        try Self.fill(plain)
        let two = try SchemaHistory(Self.schema(1), Self.schema(2), migrationChain: ["V1", "V2"]), stack = try DataStack(schemaHistory: two)
        #expect { try stack.addStorageAndWait(plain) } throws: { error in
            let error = error as? StorageError
            return error?.code == .schemaMismatch && error?.message.contains("allowSynchronousLightweightMigration") == true
        }
        try stack.addStorageAndWait(allowing)
        #expect(try Self.values(stack, "body") == ["a", "b", "c"].map(Value.string))
        #expect(try Self.values(stack, "stars") == [.int(3), .int(3), .int(3)])
        try stack.removeStorage(allowing)
        // A step with a program's part is not taken, and one that nobody has decided neither.
        let mapping = CustomSchemaMappingProvider(
            from: "V2", to: "V3",
            entityMappings: [
                .transformEntity(sourceEntity: "Note", destinationEntity: "Note") { source, create in
                    let note = create()
                    note["body"] = source["body"]
                    note["stars"] = "\(source["stars"] ?? "")"
                }
            ])
        let three = try DataStack(schemaHistory: SchemaHistory(Self.schema(2), Self.schema(3), migrationChain: ["V2", "V3"]))
        #expect(code { try three.addStorageAndWait(allowing) } == .noMigrationPath)
        let mapped = store(kind, file, .allowSynchronousLightweightMigration, [mapping])
        #expect(code { try three.addStorageAndWait(mapped) } == .schemaMismatch)
        try stack.addStorageAndWait(allowing)
        #expect(try Self.values(stack, "stars") == [.int(3), .int(3), .int(3)])
        // The program of the first version is an old one now.
        try stack.removeStorage(allowing)
        let old = try DataStack(schema: Self.schema(1))
        #expect(code { try old.addStorageAndWait(allowing) } == .noMigrationPath)
        #expect(code { try old.addStorageAndWait(plain) } == .schemaMismatch)
    }

    /// A server has no such option: its steps are taken by `addStorage`.
    @Test(.enabled(if: TestStore.server != nil)) func aServerIsNotMigratedWhileTheCallerWaits() async throws {
        let store = TestStore.postgresql.make()
        defer { try? store.erase() }
        try Self.fill(store)
        let stack = try DataStack(schemaHistory: SchemaHistory(Self.schema(1), Self.schema(2), migrationChain: ["V1", "V2"]))
        #expect { try stack.addStorageAndWait(store) } throws: { error in
            let error = error as? StorageError
            return error?.code == .schemaMismatch && error?.message.contains("allowSynchronous") == false
        }
        try await stack.addStorage(store)
        #expect(try Self.values(stack, "stars") == [.int(3), .int(3), .int(3)])
        try stack.removeStorage(store)
    }
}
