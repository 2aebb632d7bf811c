import Foundation
import PolystoreCompatibility
import PolystoreDefaults
import PolystoreSQLite
import TestStores
import Testing

// RCDataKit's samples on contexts, objects and imports.

extension TransactionAuthor {
    static var iOSViewContext: TransactionAuthor { "iOSViewContext" }
    static var networkSync: TransactionAuthor { "networkSync" }
}

private struct MyDataStack: DataStackProtocol {
    let dataStack: DataStack
    let mainContextAuthor = TransactionAuthor.iOSViewContext
}

private struct ImportablePerson: Persistable, Identifiable {
    var id: Int
    var firstName: String
    var friendID: Int

    typealias ImporterData = [Int: MyPersonEntity]

    static func generateImporterData(objects: [Self], context: BaseTransaction) throws -> ImporterData {
        try context.fetchAll(From<MyPersonEntity>()).reduce(into: [:]) { $0[$1.personID] = $1 }
    }

    func importIntoContext(_ context: BaseTransaction, importerData: inout ImporterData) throws -> PersistenceResult {
        let persistedPerson = try MyPersonEntity(context: context)
        persistedPerson.name = firstName
        persistedPerson.personID = id
        persistedPerson.friend = importerData[friendID]
        return .insert(persistedPerson.objectID)
    }
}

@Suite struct RCDataKitTests {
    private func stack(_ store: TestStore) throws -> MyDataStack {
        let stack = try sampleStack()
        try stack.addStorageAndWait(store.make())
        return MyDataStack(dataStack: stack)
    }

    @MainActor @Test(arguments: TestStore.all) func contexts(_ store: TestStore) async throws {
        let myStack = try stack(store)
        let viewContext = myStack.viewContext
        #expect(viewContext === myStack.viewContext)
        let bgContext = myStack.backgroundContext(author: .networkSync)
        try bgContext.perform {
            let rc = try MyPersonEntity(context: bgContext)
            rc.name = "Dan"
            #expect(try bgContext.saveIfNeeded())
            #expect(!(try bgContext.saveIfNeeded()))
        }
        let viewContextPerson = try #require(try viewContext.fetchOne(From<MyPersonEntity>()))
        let personId = TypedObjectID(viewContextPerson)
        try bgContext.perform {
            let backgroundContextPerson = try bgContext.existingObject(with: personId)
            #expect(backgroundContextPerson !== viewContextPerson)
            backgroundContextPerson.update(\.age, value: 15)
            backgroundContextPerson.updateIfAvailable(\.age, value: nil)
            backgroundContextPerson.update(\.age, value: 16, minimumChange: 2)
            backgroundContextPerson.add(\.friends, relation: backgroundContextPerson)
            backgroundContextPerson.add(\.friends, relation: nil)
            try bgContext.save()
        }
        let somePerson = try viewContext.existing(MyPersonEntity.self, withID: personId)
        #expect(somePerson === viewContextPerson && somePerson?.age == 15 && somePerson?.friends.count == 1)
        #expect(try viewContext.existing(MyPersonEntity.self, withIDs: [personId, personId]).count == 2)
        let otherContext = myStack.backgroundContext(author: "otherContext")
        try otherContext.existingObject(with: personId).age = 99
        try otherContext.rollback()
        #expect(!otherContext.hasChanges)
        #expect(try otherContext.removeInstances(of: MyPersonEntity.self, matching: Where("name", isEqualTo: "Fred")) == 0)
        #expect(try otherContext.removeInstances(of: MyPersonEntity.self) == 1)
        try otherContext.save()
        #expect(try viewContext.fetchCount(From<MyPersonEntity>()) == 0)
        #expect { try viewContext.existingObject(with: personId) } throws: { ($0 as? StorageError)?.code == .notFound }
    }

    @MainActor @Test(arguments: TestStore.all) func theViewContextRefusesWrites(_ store: TestStore) async throws {
        let viewContext = try stack(store).viewContext
        for write in [
            { _ = try MyPersonEntity(context: viewContext) }, { try viewContext.save() },
            { _ = try viewContext.create(MyPersonEntity.self) },
        ] as [() throws -> Void] {
            #expect { try write() } throws: { error in
                (error as? StorageError)?.code == .readOnly && "\(error)".contains("viewContext")
            }
        }
    }

    @Test func stacksThatAreThere() throws {
        _ = try sampleStack()
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("polystore-\(UUID().uuidString).sqlite").path
        for stack in [
            try BasicDataStack(MyEntity.self, path: path, mainAuthor: .iOSViewContext), try PreviewStack(MyEntity.self),
            try TestingStack(MyEntity.self),
        ] as [any DataStackProtocol] {
            let context = stack.backgroundContext(author: .networkSync)
            try MyEntity(context: context).entityID = 1
            try context.save()
            #expect(try stack.dataStack.fetchCount(From<MyEntity>()) == 1)
            for store in stack.dataStack.storages { try store.erase() }
        }
    }

    /// The folder is one of those that are removed when the program exits.
    @Test func aTestingStackHasATemporaryFolder() throws {
        let stack = try TestingStack(MyEntity.self).dataStack
        let file = try #require((stack.storages.first as? SQLiteStore)?.fileURL), folder = file.deletingLastPathComponent()
        #expect(folder.deletingLastPathComponent().standardizedFileURL == FileManager.default.temporaryDirectory.standardizedFileURL)
        #expect(TemporaryFolders.isTemporary(folder))
    }

    @Test(arguments: TestStore.all) func importing(_ store: TestStore) throws {
        let context = try stack(store).backgroundContext(author: .networkSync)
        let importablePeople = [ImportablePerson(id: 1, firstName: "A", friendID: 0), ImportablePerson(id: 2, firstName: "B", friendID: 1)]
        let arrayResults: [PersistenceResult] = try context.importPersistableObjects(importablePeople)
        #expect(arrayResults.count == 2)
        let dictionaryResults: [ImportablePerson.ID: PersistenceResult] = try context.importPersistableObjects(importablePeople)
        #expect(Set(dictionaryResults.keys) == [1, 2])
        try context.save()
        #expect(try context.fetchAll(From<MyPersonEntity>()).filter { $0.friend?.personID == 1 }.count == 1)
    }

    @Test(arguments: TestStore.all) func predicates(_ store: TestStore) throws {
        let stack = try stack(store).dataStack
        try stack.perform(synchronous: { transaction in
            for (name, age) in [("Fred", 12), ("fréd", 13), ("Ann", 19), ("Bob", 20)] {
                let person = try transaction.create(MyPersonEntity.self)
                (person.name, person.age) = (name, age)
            }
        })
        func ages(_ predicate: Where<MyPersonEntity>) throws -> [Int] {
            let sorting: [OrderBy<MyPersonEntity>] = [
                .ascending(\MyPersonEntity.age),
                .descending(\MyPersonEntity.name),
            ]
            return try stack.fetchAll(From<MyPersonEntity>().sorted(sorting).where(predicate)).map(\.age)
        }
        let predicate1 = Where<MyPersonEntity>("age >= 13")
        let predicate2 = Where<MyPersonEntity>("age < 20")
        let isTeenager = predicate1 && predicate2
        let isNotTeenager = !isTeenager
        let alsoIsNotTeenager = !predicate1 || !predicate2
        let alsoIsTeenager = [predicate1, predicate2].joined(with: .and)
        #expect(try ages(isTeenager) == [13, 19] && ages(alsoIsTeenager) == [13, 19])
        #expect(try ages(isNotTeenager) == [12, 20] && ages(alsoIsNotTeenager) == [12, 20])
        #expect(try ages(\MyPersonEntity.age > 1000) == [])
        #expect(try ages(\MyPersonEntity.name != "Fred") == [13, 19, 20])
        #expect(try ages((\MyPersonEntity.age).between(13...19)) == [13, 19])
        #expect(try ages((\MyPersonEntity.age).in([11, 13, 15, 17, 19])) == [13, 19])
        let definitelyNotFred = (\MyPersonEntity.name).notEqual(
            to: "Fred",
            options: .caseAndDiacriticInsensitive)
        #expect(try ages(definitelyNotFred) == [19, 20])
    }
}
