import Foundation
import Polystore
import PolystoreCatalog
import PolystoreInMemory
import PolystoreSQLite
import TestStores
import Testing

/// Stores come and go while a stack runs, and each entity finds its own.
@Suite struct StackTests {
    private static let models: [ManagedObject.Type] = [Person.self, Animal.self, Dog.self]
    private static let all = ["Only": ["Person", "Animal", "Dog"]]

    private func code(_ body: () throws -> Void) -> StorageError.Code? {
        do { try body() } catch { return (error as? StorageError)?.code }
        return nil
    }

    /// Adds a store with a completion; the code of the failure, nil for none. Nothing is migrated: there is no progress to show.
    private func add<Storage: StorageInterface>(_ storage: Storage, to stack: DataStack) async -> StorageError.Code? {
        await withCheckedContinuation { (continuation: CheckedContinuation<StorageError.Code?, Never>) in
            let progress = stack.addStorage(storage) { result in
                switch result {
                case .success: continuation.resume(returning: nil)
                case .failure(let error): continuation.resume(returning: error.code)
                }
            }
            #expect(progress == nil)
        }
    }

    @Test func withoutAStoreEveryVerbIsATypedError() throws {
        let stack = try DataStack(models: Self.models)
        #expect(code { _ = try stack.fetchAll(From<Person>()) } == .notFound)
        #expect(code { _ = try stack.fetchCount(From<Person>()) } == .notFound)
        #expect(code { try stack.perform(synchronous: { _ = try $0.create(Person.self) }) } == .notFound)
    }

    @Test(arguments: TestStore.all) func aStoreIsAddedInEachWayAndTakenOut(_ kind: TestStore) async throws {
        let stack = try DataStack(models: Self.models)
        let first = kind.make(), second = kind.make()
        try await stack.addStorage(first)
        try stack.perform(synchronous: { try $0.create(Person.self).name = "Ann" })
        #expect(try stack.fetchCount(From<Person>()) == 1)
        try stack.removeStorage(first)
        #expect(code { _ = try stack.fetchCount(From<Person>()) } == .notFound)
        #expect(code { try stack.removeStorage(first) } == .notFound)
        #expect(await add(second, to: stack) == nil)
        #expect(try stack.fetchCount(From<Person>()) == 0)
        try? second.erase()
    }

    @Test func aFailureReachesTheCompletion() async throws {
        let stack = try DataStack(models: Self.models)
        let code = await add(SQLiteStore(path: "/nowhere/at/all.db"), to: stack)
        #expect(code == .notFound)
        #expect(stack.storages.isEmpty)
    }

    @Test func aConfigurationNamesStoresAndOneThatFailsLeavesNone() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("polystore_\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let json = #"{"stores": [{"url": "sqlite:\#(folder.path)/a.db"}, {"url": "memory:", "configuration": "Only"}]}"#
        let configuration = try StackConfiguration(json: Data(json.utf8))
        let stack = try DataStack(models: Self.models, configurations: Self.all)
        try stack.addStorages(configuration, opener: StoreCatalog.standard)
        #expect(stack.storages.map(\.configuration) == [nil, "Only"])
        #expect(code { try stack.perform(synchronous: { _ = try $0.create(Person.self) }) } == .invalidConfiguration)
        try stack.perform(synchronous: { try $0.create(Into<Person>("Only")).name = "kept in memory" })
        #expect(try stack.fetchCount(From<Person>("Only")) == 1)
        #expect(try stack.fetchCount(From<Person>(nil)) == 0)
        let other = try DataStack(models: Self.models, configurations: Self.all)
        let wrong = StackConfiguration(stores: [.init(url: "memory:"), .init(url: "sqlite:/nowhere/at/all.db")])
        #expect(code { try other.addStorages(wrong, opener: StoreCatalog.standard) } == .notFound)
        #expect(other.storages.isEmpty)
        #expect(code { _ = try StackConfiguration(json: Data("{}".utf8)) } == .invalidConfiguration)
        #expect(code { try other.addStorageAndWait(InMemoryStore(configuration: "Onyl")) } == .invalidConfiguration)
    }

    /// The other store is one in memory, so that each kind stands beside another kind.
    @Test(arguments: TestStore.all) func oneSortedAnswerComesFromSeveralStores(_ kind: TestStore) throws {
        let stack = try DataStack(models: Self.models, configurations: Self.all)
        let store = kind.make()
        try stack.addStorageAndWait(store)
        try stack.addStorageAndWait(InMemoryStore(configuration: "Only"))
        defer { try? store.erase() }
        // Owners in the opposite order of the dogs' names, keys alike in both stores.
        for (index, configuration) in [nil, "Only", nil, "Only", nil].enumerated() {
            try stack.perform(synchronous: { transaction in
                let person = try transaction.create(Into<Person>(configuration))
                person.name = "P\(9 - index)"
                person.age = index
                let dog = try transaction.create(Into<Dog>(configuration))
                dog.name = "D\(index)"
                dog.owner = person
            })
        }
        func names(_ from: From<Dog>) throws -> [String] { try stack.fetchAll(from).map(\.name) }
        #expect(try names(From<Dog>().orderBy(.ascending(\.name))) == ["D0", "D1", "D2", "D3", "D4"])
        #expect(try names(From<Dog>().orderBy(.descending(\.name)).offset(1).limit(2)) == ["D3", "D2"])
        // The owner of each dog is looked up in the dog's own store.
        #expect(try names(From<Dog>().orderBy(.ascending(\.owner?.name))) == ["D4", "D3", "D2", "D1", "D0"])
        #expect(try names(From<Dog>().where(\.owner?.age >= 3).orderBy(.ascending(\.name))) == ["D3", "D4"])
        #expect(try stack.fetchCount(From<Dog>().where(\.owner?.age >= 1)) == 4)
        #expect(try stack.fetchCount(From<Dog>().offset(1).limit(3)) == 3)
        #expect(try stack.fetchIDs(From<Dog>().orderBy(.ascending(\.name))).count == 5)
        // Values too: an average of averages would be 1.5 here.
        #expect(try stack.queryValue(From<Person>().select(Double.self, .average(\.age))) == 2)
        #expect(try stack.queryValue(From<Person>().where(\.age < 3).select(Double.self, .average(\.age))) == 1)
        #expect(try stack.queryValue(From<Person>().select(String.self, .minimum(\Person.name))) == "P5")
        let tuples = try stack.queryTuples(From<Dog>().orderBy(.ascending(\.owner?.name)).offset(1).limit(2).tuples(\.name, \.owner?.age))
        #expect(tuples.map(\.0) == ["D3", "D2"] && tuples.map(\.1) == [3, 2])
        let groups = try stack.queryAttributes(From<Dog>().select(.count(as: "dogs")).groupBy(\.size))
        #expect(groups.map(\.values) == [[.int(5)]])
    }
}
