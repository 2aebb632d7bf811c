import Foundation
import Polystore
import PolystoreInMemory
import PolystoreLMDB
import PolystoreSQLite
import PolystoreStorage
import RawSessions
import TestStores
import Testing

/// Stores that a stack leads to the current version of its model.
@Suite struct MigrationTests {
    private static let persistent = TestStore.all.filter { $0 != .memory }

    private static func v1() throws -> Schema { try DataStack(V1.Animal.self, V1.Dog.self, V1.Person.self, version: "V1").schema }
    private static func v2() throws -> Schema { try DataStack(V2.Animal.self, V2.Dog.self, V2.Person.self, version: "V2").schema }
    private static let models: [ManagedObject.Type] = [V2.Animal.self, V2.Dog.self, V2.Person.self]

    private static func history() throws -> SchemaHistory {
        try SchemaHistory(v1(), v2(), migrationChain: ["V1", "V2"], models: models)
    }

    /// A store of the first version with three people, of whom one has a dog and one is very old.
    private static func fill(_ store: any StorageInterface) throws {
        let stack = try DataStack(V1.Animal.self, V1.Dog.self, V1.Person.self, version: "V1")
        try stack.addStorageAndWait(store)
        try stack.perform(synchronous: { transaction in
            for (first, last, isOld) in [("Ann", "Lee", false), ("Bob", "Ray", true), ("Cid", "Fox", false)] {
                let person = try transaction.create(V1.Person.self)
                person.firstName = first
                person.lastName = last
                person.isVeryOldAccount = isOld
                let dog = try transaction.create(V1.Dog.self)
                dog.nickname = "\(first)'s dog"
                dog.age = 7
                dog.master = person
            }
        })
        try stack.removeStorage(store)
    }

    @Test(arguments: persistent) func aStoreWhoseObjectsAreBeingMovedIsNotMigrated(_ kind: TestStore) async throws {
        let store = kind.make()
        defer { try? store.erase() }
        try Self.fill(store)
        let old = try DataStack(V1.Animal.self, V1.Dog.self, V1.Person.self, version: "V1")
        try old.addStorageAndWait(store)
        let writer = try OpenStore(opened: store).beginWrite()
        try writer.setNote(MoveNote.name, MoveNote(to: "elsewhere", UUID()).bytes())
        _ = try writer.commit(CommitRecord())
        try old.removeStorage(store)
        let stack = try DataStack(schemaHistory: Self.history())
        let refused = await #expect(throws: StorageError.self) { try await stack.addStorage(store) }
        #expect(refused?.code == .storeMoved)
        try old.addStorageAndWait(store)
        #expect(try old.fetchCount(From<V1.Person>()) == 3)
    }

    @Test(arguments: persistent) func bothVersionsOfAClassLiveInOneMigration(_ kind: TestStore) async throws {
        let store = kind.make()
        defer { try? store.erase() }
        try Self.fill(store)
        var history = try Self.history()
        history.stages = [
            MigrationStage(
                from: "V1", to: "V2", label: "names", sourceModels: [V1.Animal.self, V1.Dog.self, V1.Person.self],
                preMigration: { context in
                    try context.perform { transaction in
                        for dog in try transaction.fetchAll(From<V1.Dog>()) { dog.nickname = dog.nickname?.uppercased() }
                    }
                },
                postMigration: { context in
                    try context.perform { transaction in
                        for person in try transaction.fetchAll(From<V2.Person>()) {
                            person.fullName = "\(person.firstName) \(person.lastName)"
                        }
                        for dog in try transaction.fetchAll(From<V2.Dog>()) { dog.age += 1 }
                    }
                })
        ]
        let stack = try DataStack(schemaHistory: history), progress = MigrationProgress()
        #expect(try stack.requiredMigrations(for: store).map(\.description) == [#""V1" → "V2" (heavyweight)"#])
        try await stack.addStorage(store, progress: progress)
        #expect(progress.current.totalSteps == 1 && progress.fractionCompleted == 1 && progress.isFinished)
        let people = try stack.fetchAll(From<V2.Person>().orderBy(.ascending(\.firstName)))
        #expect(people.map(\.fullName) == ["Ann Lee", "Bob Ray", "Cid Fox"])
        #expect(people.map { $0.pets.map(\.name) } == [["ANN'S DOG"], ["BOB'S DOG"], ["CID'S DOG"]])
        #expect(people.flatMap { $0.pets.map(\.age) } == [8, 8, 8])
        #expect(try stack.requiredMigrations(for: store).isEmpty)
        try stack.removeStorage(store)
    }

    @Test(arguments: persistent) func anErrorOfAStageRollsBackTheStep(_ kind: TestStore) async throws {
        let store = kind.make()
        defer { try? store.erase() }
        try Self.fill(store)
        struct Stop: Error {}
        var history = try Self.history()
        history.stages = [
            MigrationStage(
                from: "V1", to: "V2",
                preMigration: { context in try context.perform { _ = try $0.deleteAll(From<DynamicObject>(entity: "Dog")) } },
                postMigration: { _ in throw Stop() })
        ]
        let stack = try DataStack(schemaHistory: history)
        await #expect { try await stack.addStorage(store) } throws: { ($0 as? StorageError)?.cause is Stop }
        let old = try DataStack(V1.Animal.self, V1.Dog.self, V1.Person.self, version: "V1")
        try old.addStorageAndWait(store)
        #expect(try old.fetchCount(From<V1.Dog>()) == 3)
        try old.removeStorage(store)
    }

    @Test func aSynchronousAdditionMigratesOnlyWhereItMay() async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("polystore_\(UUID().uuidString).db").path
        try Self.fill(SQLiteStore(path: path))
        let stack = try DataStack(schemaHistory: Self.history())
        #expect { try stack.addStorageAndWait(SQLiteStore(path: path)) } throws: { ($0 as? StorageError)?.code == .schemaMismatch }
        let store = SQLiteStore(path: path, localStorageOptions: .allowSynchronousLightweightMigration)
        defer { try? store.erase() }
        try stack.addStorageAndWait(store)
        #expect(try stack.fetchAll(From<V2.Dog>()).map(\.name).contains("Ann's dog"))
        // The old program finds out.
        let old = try DataStack(V1.Animal.self, V1.Dog.self, V1.Person.self, version: "V1")
        #expect { try old.addStorageAndWait(SQLiteStore(path: path)) } throws: { error in
            let error = error as? StorageError
            // No way of adding it migrates it back.
            return error?.code == .schemaMismatch && error?.message.contains("addStorage") == false
                && error?.message.hasSuffix(
                    #"the store was migrated from version "V1" of the model to "V2" by a newer program; update this one"#) == true
        }
        #expect { try old.requiredMigrations(for: SQLiteStore(path: path)) } throws: { error in
            "\(error)".contains(#"was migrated from version "V1" of the model to "V2" by a newer program; update this one"#)
        }
        await #expect { try await old.addStorage(SQLiteStore(path: path)) } throws: { ($0 as? StorageError)?.code == .noMigrationPath }
    }

    /// The option allows only what follows from the schemas.
    @Test func aStoreThatNeedsWorkOfTheProgramIsSentToAddStorage() async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("polystore_\(UUID().uuidString).db").path
        let store = SQLiteStore(path: path, localStorageOptions: .allowSynchronousLightweightMigration)
        defer { try? store.erase() }
        try Self.fill(SQLiteStore(path: path))
        var history = try Self.history()
        history.stages = [MigrationStage(from: "V1", to: "V2", preMigration: { _ in })]
        let stack = try DataStack(schemaHistory: history)
        for candidate in [store, SQLiteStore(path: path)] {
            let error = #expect(throws: StorageError.self) { try stack.addStorageAndWait(candidate) }
            #expect(error?.code == .schemaMismatch)
            #expect(error?.message.hasSuffix("add the store with addStorage") == true, "\(error as Any)")
            #expect(error?.message.contains("allowSynchronousLightweightMigration") == false)
        }
        try await stack.addStorage(store)
        #expect(try stack.fetchCount(From<V2.Dog>()) == 3)
    }

    @Test(arguments: persistent) func anOpenStackOfTheOldVersionIsRefusedAfterTheSwitch(_ kind: TestStore) async throws {
        // LMDB's environment is open once in a process.
        if kind == .lmdb { return }
        let name = "polystore_\(UUID().uuidString.lowercased())", first = kind.make(named: name), second = kind.make(named: name)
        defer { try? second.erase() }
        try Self.fill(first)
        let old = try DataStack(V1.Animal.self, V1.Dog.self, V1.Person.self, version: "V1")
        try old.addStorageAndWait(first)
        let new = try DataStack(schemaHistory: Self.history())
        try await new.addStorage(second)
        #expect(try new.fetchCount(From<V2.Person>()) == 3)
        #expect { try old.fetchCount(From<V1.Person>()) } throws: { ($0 as? StorageError)?.code == .schemaMismatch }
        #expect { try old.perform(synchronous: { _ = try $0.create(V1.Person.self) }) } throws: { error in
            (error as? StorageError)?.code == .schemaMismatch
        }
        try old.removeStorage(first)
        try new.removeStorage(second)
    }

    @Test func aFileIsCopiedBeforeAStepOfTheProgram() async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("polystore_\(UUID().uuidString).db").path
        let mapping = CustomSchemaMappingProvider(
            from: "V1", to: "V2",
            entityMappings: [
                .transformEntity(
                    sourceEntity: "Person", destinationEntity: "Person",
                    transformer: { (sourceObject: UnsafeSourceObject, createDestinationObject: () -> UnsafeDestinationObject) in
                        if (sourceObject["isVeryOldAccount"] as! Bool?) == true {
                            return  // this account is too old, don't migrate
                        }
                        let destinationObject = createDestinationObject()
                        destinationObject.enumerateAttributes { (attribute, sourceAttribute) in
                            if let sourceAttribute = sourceAttribute {
                                destinationObject[attribute] = sourceObject[sourceAttribute]
                            }
                        }
                    }
                )
            ])
        let store = SQLiteStore(path: path, migrationMappingProviders: [mapping])
        try Self.fill(store)
        let stack = try DataStack(schemaHistory: Self.history())
        #expect(try stack.upgradeStorageIfNeeded(store) == [.heavyweight(sourceVersion: "V1", destinationVersion: "V2")])
        try stack.addStorageAndWait(store)
        #expect(try stack.fetchAll(From<V2.Person>().orderBy(.ascending(\.firstName))).map(\.firstName) == ["Ann", "Cid"])
        // The dog of the one who was left behind has no master.
        #expect(try stack.fetchAll(From<V2.Dog>().orderBy(.ascending(\.name))).map { $0.master?.firstName } == ["Ann", nil, "Cid"])
        try stack.removeStorage(store)
        let backup = SQLiteStore(path: path + ".V1.backup")
        let old = try DataStack(V1.Animal.self, V1.Dog.self, V1.Person.self, version: "V1")
        try old.addStorageAndWait(backup)
        #expect(try old.fetchCount(From<V1.Person>()) == 3)
        try old.removeStorage(backup)
        try backup.erase()
        try store.erase()
    }

    @Test(arguments: persistent) func progressIsReportedAndCancelled(_ kind: TestStore) async throws {
        let store = kind.make()
        defer { try? store.erase() }
        func schema(_ version: String, _ type: ValueType) throws -> Schema {
            try Schema(version: version, entities: [Entity("Note", attributes: [Attribute("x", type)])])
        }
        let versions = [try schema("V1", .int16), try schema("V2", .double), try schema("V3", .double)]
        let first = try DataStack(schema: versions[0])
        try first.addStorageAndWait(store)
        try first.perform(synchronous: { transaction in
            for number in 0..<20_000 {
                try transaction.create(Into<DynamicObject>(entity: "Note")).setValue(.int(Int64(number)), for: "x")
            }
        })
        try first.removeStorage(store)
        let history = try SchemaHistory(schemas: versions, migrationChain: ["V1", "V2", "V3"])
        let cancelled = try DataStack(schemaHistory: history)
        let stopped = MigrationProgress()
        stopped.cancel()
        await #expect { try await cancelled.addStorage(store, progress: stopped) } throws: { ($0 as? StorageError)?.code == .cancelled }
        let stack = try DataStack(schemaHistory: history)
        let progress = try #require(Self.add(store, stack))
        #expect(progress.current.totalSteps == 1)
        var last = progress.current
        for await update in progress.updates {
            #expect(update.fractionCompleted >= last.fractionCompleted)
            last = update
        }
        #expect(last.localizedDescription == "100% completed" && last.localizedAdditionalDescription == "1 of 1" && progress.isFinished)
        for _ in 0..<500 where stack.storages.isEmpty { try await Task.sleep(for: .milliseconds(10)) }
        #expect(
            try stack.fetchAll(From<DynamicObject>(entity: "Note").limit(3)).map { try $0.value("x") } == [
                .double(0), .double(1), .double(2),
            ])
        try stack.removeStorage(store)
        #expect(Self.add(store, stack) == nil)
        for _ in 0..<500 where stack.storages.isEmpty { try await Task.sleep(for: .milliseconds(10)) }
    }

    /// As a program without tasks does it.
    private static func add(_ store: any StorageInterface, _ stack: DataStack) -> MigrationProgress? {
        func add(_ storage: some StorageInterface) -> MigrationProgress? { stack.addStorage(storage) { _ in } }
        return add(store)
    }

    /// Versions that name only their classes have the schemas of these.
    @Test func versionsOfClassesNeedNoFile() throws {
        enum Animals: String, ModelVersion {
            case first = "V1", second = "V2"
            var models: [ManagedObject.Type] {
                self == .first ? [V1.Animal.self, V1.Dog.self, V1.Person.self] : [V2.Animal.self, V2.Dog.self, V2.Person.self]
            }
        }
        #expect(try Animals.history.schemas == [Self.v1(), Self.v2()])
    }

    @Test func aVersionEnumIsAHistory() throws {
        #expect(try Versions.history.schemas.map(\.version) == ["V1", "V2", "V3"])
        #expect(try Versions.history.migrationChain == ["V1", "V2", "V3"] && Versions.history.stages.map(\.label) == ["to 2", "to 3"])
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("polystore_\(UUID().uuidString).lmdb").path
        let store = LMDBStore(path: path)
        defer { try? store.erase() }
        let first = try DataStack(schema: Versions.v1.schema)
        try first.addStorageAndWait(store)
        try first.perform(synchronous: { try $0.create(Into<DynamicObject>(entity: "Note")).setValue(.int(5), for: "a") })
        try first.removeStorage(store)
        let stack = try DataStack(schemaHistory: Versions.history)
        try stack.upgradeStorageIfNeeded(store)
        try stack.addStorageAndWait(store)
        #expect(try stack.fetchAll(From<DynamicObject>(entity: "Note")).map { try $0.value("c") } == [.int(6)])
        try stack.removeStorage(store)
        try? FileManager.default.removeItem(atPath: path + ".V1.backup")
    }
}

/// Three versions of a model: `a` becomes `b`, is raised by one, becomes `c`.
enum Versions: String, ModelVersion {
    case v1 = "V1"
    case v2 = "V2"
    case v3 = "V3"

    var schema: Schema {
        get throws(StorageError) {
            do throws(SchemaError) {
                let names = ["a", "b", "c"], index = Self.allCases.firstIndex(of: self) ?? 0
                let attribute = Attribute(names[index], .int64, originalName: index > 0 ? names[index - 1] : nil)
                return try Schema(version: rawValue, entities: [Entity("Note", attributes: [attribute])])
            } catch {
                throw StorageError(error)
            }
        }
    }

    static func migrationStages() -> [MigrationStage] {
        [
            v1.migrationStage(
                toStage: .v2, label: "to 2",
                postMigration: { context in
                    try context.perform { transaction in
                        for note in try transaction.fetchAll(From<DynamicObject>(entity: "Note")) {
                            guard case .int(let number) = try note.value("b") else { continue }
                            try note.setValue(.int(number + 1), for: "b")
                        }
                    }
                }),
            v2.migrationStage(toStage: .v3, label: "to 3"),
        ]
    }
}
