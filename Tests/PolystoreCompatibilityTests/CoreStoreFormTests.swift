import Foundation
import PolystoreCompatibility
import PolystoreInMemory
import PolystoreSQLite
import Testing

/// CoreStore's forms of transactions, lists and stores.
@Suite struct CoreStoreFormTests {
    private let dataStack: DataStack

    init() throws {
        dataStack = try sampleStack()
        try dataStack.addStorageAndWait(InMemoryStore())
        try dataStack.perform(synchronous: { transaction in
            for age in [20, 30] { try transaction.create(Into<MyPersonEntity>()).age = age }
        })
    }

    private func ages() throws -> [Int] { try dataStack.fetchAll(From<MyPersonEntity>(), OrderBy(.ascending("age"))).map(\.age) }

    @Test func anObjectIsImportedInto() throws {
        try dataStack.perform(synchronous: { transaction in
            let person = try #require(try transaction.fetchOne(From<MyPersonEntity>(), Where("age == 20")))
            try transaction.importObject(person, source: ["name": "Ann", "age": 21])
            #expect(person.name == "Ann")
            #expect(throws: Errors.InvalidNameError) { try transaction.importObject(person, source: ["age": 21]) }
            person.age = 21
        })
        #expect(try ages() == [21, 30])
    }

    @Test func aDetachedTransactionIsCommittedInBothForms() throws {
        let transaction = dataStack.beginUnsafe(), done = Done()
        try transaction.fetchOne(From<MyPersonEntity>())?.age = 1
        try transaction.commitAndWait()
        #expect(try ages() == [1, 30])
        try transaction.fetchOne(From<MyPersonEntity>())?.age = 2
        transaction.commit { error in done(error.map { "\($0)" } ?? "committed") }
        #expect(done.wait() == "committed")
        #expect(try ages() == [2, 30])
        let removed = try #require(try transaction.fetchOne(From<MyPersonEntity>()))
        removed.age = 3
        try dataStack.perform(synchronous: { _ = try $0.delete(try $0.edit(removed), nil) })
        transaction.commit { error in done(error?.code.description ?? "committed") }
        #expect(done.wait() == "staleObject")
    }

    @Test func absentObjectsAreNeitherEditedNorDeleted() throws {
        let one = try dataStack.fetchOne(From<MyPersonEntity>(), Where("age == 20"))
        let none = try dataStack.fetchOne(From<MyPersonEntity>(), Where("age == 99"))
        try dataStack.perform(synchronous: { transaction in
            #expect(try transaction.edit(none) == nil && transaction.edit(one)?.age == 20)
            let id = try #require(one).objectID
            #expect(try transaction.edit(Into<MyPersonEntity>(), id)?.age == 20)
            #expect(try transaction.delete(none) == 0)
            #expect(try transaction.delete(none, one) == 1)
            let ids = try transaction.fetchObjectIDs(From<MyPersonEntity>())
            #expect(try transaction.delete(objectIDs: ids) == 1)
        })
        #expect(try ages() == [])
    }

    @Test func nothingIsSavedAfterACancellationThatTryIgnores() throws {
        #expect(throws: StorageError.self) {
            try dataStack.perform(synchronous: { transaction in
                try transaction.fetchOne(From<MyPersonEntity>())?.age = 77
                try? transaction.cancel()
            })
        }
        #expect(try ages() == [20, 30])
    }

    @Test func allStoresAreRemoved() throws {
        try dataStack.unsafeRemoveAllPersistentStoresAndWait()
        #expect(dataStack.storages.isEmpty)
        #expect(throws: CoreStoreError.self) { try ages() }
    }

    @MainActor private final class Screen {
        var title = ""

        func show(_ stack: DataStack, _ done: @escaping @MainActor () -> Void) {
            stack.perform(
                asynchronous: { try $0.fetchCount(From<MyPersonEntity>(), Where("age > 20")) },
                success: { (count) in
                    self.title = "\(count) older than 20"
                    done()
                },
                failure: { (error: CoreStoreError) in self.title = "\(error)" })
        }
    }

    @Test @MainActor func completionsChangeTheStateOfTheMainActor() async {
        let screen = Screen()
        await withCheckedContinuation { continuation in screen.show(dataStack) { continuation.resume() } }
        #expect(screen.title == "1 older than 20")
    }

    @Test func aStackHasTheAsynchronousFunctionsOfCoreStore() async throws {
        let stack = try sampleStack()
        try await stack.async.addStorage(InMemoryStore())
        try await stack.async.perform { try $0.create(Into<MyPersonEntity>()).age = 5 }
        #expect(try stack.fetchOne(From<MyPersonEntity>())?.age == 5)
    }

    @Test func aSynchronousTransactionHasASourceIdentifier() throws {
        let source = try dataStack.perform(
            synchronous: { $0.sourceIdentifier as? String }, waitForAllObservers: true, sourceIdentifier: "a")
        #expect(source == "a")
        let done = Done()
        dataStack.perform(
            asynchronous: { $0.sourceIdentifier as? String }, sourceIdentifier: "b",
            completion: { result in done((try? result.get()) ?? "-") })
        #expect(done.wait() == "b")
        #expect(try dataStack.perform(synchronous: { $0.sourceIdentifier == nil }, waitForAllObservers: false))
    }

    @Test func sortDescriptorsOfFoundationAreAnOrder() throws {
        try dataStack.perform(synchronous: { transaction in
            for (name, age) in [("b", 40), ("a", 40)] {
                let person = try transaction.create(Into<MyPersonEntity>())
                (person.name, person.age) = (name, age)
            }
        })
        func found(_ order: SortDescriptor<MyPersonEntity>...) throws -> [String] {
            try dataStack.fetchAll(From<MyPersonEntity>().orderBy(order)).map { "\($0.age)\($0.name ?? "")" }
        }
        let names = SortDescriptor(\MyPersonEntity.name, comparator: .lexical, order: .reverse)
        #expect(try found(SortDescriptor(\.age, order: .reverse), names).prefix(2) == ["40b", "40a"])
        #expect(try found(SortDescriptor(\.age)).prefix(2).map { $0.prefix(2) } == ["20", "30"])
    }

    /// The thread of the main actor waits for the transaction, and finds its monitors up to date, as in CoreStore.
    @Test @MainActor func observersOfTheMainActorAreCalledBeforeASynchronousTransactionReturns() throws {
        let monitor = try dataStack.monitorList(From<MyPersonEntity>(), OrderBy<MyPersonEntity>(.ascending("age")))
        for count in 3...5 {
            try dataStack.perform(
                synchronous: { try $0.create(Into<MyPersonEntity>()).age = count }, waitForAllObservers: true)
            #expect(monitor.numberOfObjects() == count)
        }
    }

    @Test @MainActor func listsHaveTheFunctionsOfCoreStore() throws {
        let monitor = try dataStack.monitorSectionedList(From<MyPersonEntity>(), SectionBy("age"), OrderBy(.ascending("age")))
        #expect(monitor.hasObjects() && monitor.hasObjects(in: 1) && !monitor.hasObjects(in: 2))
        #expect(monitor.numberOfObjects() == 2 && monitor.numberOfSections() == 2)
        let count: Int = monitor.numberOfObjects(in: 1)
        #expect(count == 1 && monitor.numberOfObjects(safelyIn: 2) == nil && monitor.numberOfObjects(in: 2) == nil)
        #expect(monitor.hasObjects && monitor.numberOfObjects == 2)
        let number = monitor.numberOfObjects, hasAny = monitor.hasObjects
        #expect(number == 2 && hasAny)
        #expect(try monitor.objects(in: 0).map(\.age) == [20] && monitor.objects(safelyIn: 2) == nil)
        #expect(monitor[safeSectionIndex: 1, safeItemIndex: 0]?.age == 30 && monitor[safeIndex: 2] == nil)
        #expect(monitor[safeIndexPath: IndexPath(indexes: [0, 1])] == nil && monitor.sectionInfo(safelyAt: 1)?.name == "30")
        #expect(monitor.sections().map(\.name) == ["20", "30"] && monitor.sectionIndexTitles() == ["2", "3"])
        let snapshot = monitor.snapshot
        #expect(snapshot.hasItems() && snapshot.hasSections())
        #expect(snapshot.numberOfItems(inSectionIndex: 0) == 1 && snapshot.numberOfItems(inSectionWithID: "30") == 1)
        #expect(snapshot.hasItems(inSectionWithID: "30") && !snapshot.hasItems(inSectionIndex: 5))
        #expect(snapshot.numberOfItems(inSectionWithID: "99") == 0)
        #expect(snapshot.itemIDs(inSectionWithID: "20") == [snapshot[0]] && snapshot.indexOfItem(withID: snapshot[1]) == 1)
        #expect(ListSnapshot<MyPersonEntity>().hasItems() == false)
    }

    @Test func aStoreIsMadeWithTheArgumentsInTheOrderOfCoreStore() throws {
        let configuration: ModelConfiguration = "Config2"
        let place = FileManager.default.temporaryDirectory.appendingPathComponent("polystore-\(UUID().uuidString).sqlite")
        let mapping = CustomSchemaMappingProvider(from: "V1", to: "V2", entityMappings: [])
        let store = SQLiteStore(
            fileURL: place, configuration: configuration, migrationMappingProviders: [mapping], localStorageOptions: .none)
        #expect(store.configuration == "Config2" && store.migrationMappingProviders.count == 1 && store.localStorageOptions == nil)
        let options: LocalStorageOptions = nil
        #expect(options == .none && options.isEmpty)
        let legacy = try SQLiteStore.legacy(
            fileName: "old.sqlite", configuration: "Config1", migrationMappingProviders: [mapping],
            localStorageOptions: .allowSynchronousLightweightMigration)
        #expect(legacy.fileURL.lastPathComponent == "old.sqlite" && legacy.migrationMappingProviders.count == 1)
        #expect(legacy.localStorageOptions == .allowSynchronousLightweightMigration)
        #expect(
            try SQLiteStore(fileName: "a", migrationMappingProviders: [], localStorageOptions: nil).path == SQLiteStore(fileName: "a").path)
    }
}

extension DefaultStackTests {
    @Suite struct FacadeTests {
        private func setUp() throws {
            CoreStoreDefaults.dataStack = try sampleStack()
            try CoreStore.addStorageAndWait(InMemoryStore())
            try CoreStore.perform(synchronous: { transaction in
                for age in [20, 30] { try transaction.create(Into<MyPersonEntity>()).age = age }
            })
        }

        @Test func theDefaultsAreThoseOfTheFacade() throws {
            try setUp()
            #expect(CoreStoreDefaults.dataStack === CoreStore.defaultStack)
            #expect(type(of: CoreStoreDefaults.logger) == type(of: CoreStore.logger))
        }

        @Test func storesAreAddedAndRemoved() async throws {
            CoreStore.defaultStack = try sampleStack()
            let store = try await CoreStore.addStorage(InMemoryStore())
            #expect(CoreStore.defaultStack.storages.count == 1)
            try CoreStore.removeStorage(store)
            #expect(CoreStore.defaultStack.storages.isEmpty)
            let place = FileManager.default.temporaryDirectory.appendingPathComponent("polystore-\(UUID().uuidString).sqlite")
            let result = CoreStore.addSQLiteStore(
                fileURL: place, configuration: "Config2", automigrating: true, resetStoreOnMigrationFailure: true)
            let added = try result.get()
            #expect(added.configuration == "Config2" && added.localStorageOptions.contains(.recreateStoreOnModelMismatch))
            #expect(try CoreStore.requiredMigrationsForStorage(added).isEmpty)
            let types = await withCheckedContinuation { continuation in
                let progress = CoreStore.upgradeStorageIfNeeded(SQLiteStore(fileURL: place, configuration: "Config2")) {
                    continuation.resume(returning: $0)
                }
                #expect(progress == nil)
            }
            #expect(try types.get().isEmpty)
            try CoreStore.unsafeRemoveAllPersistentStoresAndWait()
            try added.erase()
        }

        @Test func aStoreIsAddedByItsKind() throws {
            CoreStore.defaultStack = try sampleStack()
            let done = Done()
            CoreStore.addStorage(SQLiteStore.self) { result in done((try? result.get().path) ?? "-") }
            #expect(done.wait()?.hasSuffix(".sqlite") == true)
            for store in CoreStore.defaultStack.storages { try store.erase() }
        }

        @Test func theDefaultStackIsReadAndChanged() async throws {
            try setUp()
            let created = try await CoreStore.perform { transaction in
                try transaction.create(Into<MyPersonEntity>()).age = 40
                return transaction.hasChanges
            }
            #expect(created)
            #expect(try CoreStore.read(synchronous: { try $0.fetchCount(From<MyPersonEntity>()) }) == 3)
            #expect(try await CoreStore.read { try $0.fetchCount(From<MyPersonEntity>(), Where("age > 20")) } == 2)
            #expect(try CoreStore.fetchPage(From<MyPersonEntity>().orderBy(.ascending("age")).limit(2)).objects.map(\.age) == [20, 30])
            #expect(try CoreStore.fetchAll(From<MyPersonEntity>(), [Where("age > 30")]).count == 1)
            #expect(try CoreStore.fetchOne(From<MyPersonEntity>(), [OrderBy(.descending("age"))])?.age == 40)
            #expect(try CoreStore.fetchCount(From<MyPersonEntity>(), [Where("age > 20")]) == 2)
            #expect(try CoreStore.queryValue(From<MyPersonEntity>(), Select<Int>(.sum("age")), []) == 90)
            let source = try CoreStore.perform(synchronous: { $0.sourceIdentifier as? Int }, sourceIdentifier: 7)
            #expect(source == 7)
        }

        @Test @MainActor func theDefaultStackIsObserved() throws {
            try setUp()
            let from = From<MyPersonEntity>(), byAge = OrderBy<MyPersonEntity>(.ascending("age"))
            let monitor = try CoreStore.monitorList(from, byAge)
            #expect(monitor.numberOfObjects() == 2)
            #expect(try CoreStore.monitorSectionedList(from, SectionBy("age"), byAge).numberOfSections() == 2)
            #expect(try CoreStore.monitorObject(monitor[0]).object?.age == 20)
            #expect(try CoreStore.publishList(from, byAge).snapshot.itemIDs == monitor.objectIDs)
            #expect(try CoreStore.publishList(from.sectionBy("age").orderBy(.ascending("age"))).snapshot.numberOfSections == 2)
            #expect(try CoreStore.publishObject(monitor[1]).snapshot?.age == 30)
        }
    }
}
