import Foundation
import Polystore
import TestStores
import Testing

private struct InvalidName: Error {}

extension Person: ImportableUniqueObject {
    typealias ImportSource = [String: String]
    static var uniqueIDKeyPath: String { "email" }
    var uniqueIDValue: String {
        get { email ?? "" }
        set { email = newValue }
    }
    static func uniqueID(from source: [String: String], in transaction: BaseTransaction) throws -> String? { source["email"] }
    static func shouldInsert(from source: [String: String], in transaction: BaseTransaction) -> Bool { source["name"] != "skip" }
    static func shouldUpdate(from source: [String: String], in transaction: BaseTransaction) -> Bool { source["name"] != "keep" }
    func update(from source: [String: String], in transaction: BaseTransaction) throws {
        guard let name = source["name"], !name.isEmpty else { throw InvalidName() }
        self.name = name
    }
}

extension Dog: ImportableUniqueObject {
    typealias ImportSource = String
    typealias UniqueIDType = String
    static var uniqueIDKeyPath: String { "name" }
    static func uniqueID(from source: String, in transaction: BaseTransaction) -> String? { source }
    func update(from source: String, in transaction: BaseTransaction) {}
}

/// A pet as a service sends it, with the name of its owner.
private struct ImportedDog: Persistable, Identifiable {
    let id: Int
    let name: String
    let owner: String

    static func generateImporterData(objects: [ImportedDog], context: BaseTransaction) throws -> [String: Person] {
        let people = try context.fetchAll(From<Person>())
        return Dictionary(people.map { ($0.name, $0) }) { first, _ in first }
    }

    func importIntoContext(_ context: BaseTransaction, importerData: inout [String: Person]) throws -> PersistenceResult {
        guard let owner = importerData[owner] else { throw InvalidName() }
        let dog = try context.create(Dog.self)
        dog.name = name
        dog.owner = owner
        return .insert(dog.objectID)
    }
}

@Suite struct ImportingTests {
    private func people(_ stack: DataStack) throws -> [[String?]] {
        try stack.fetchAll(From<Person>().orderBy(.ascending(\.email))).map { [$0.email, $0.name] }
    }

    @Test(arguments: TestStore.all) func theIdentityIsTheNamedAttributeByDefault(_ store: TestStore) throws {
        let stack = try store.stack()
        for names in [["Rex", "Tom"], ["Tom", "Kit"]] {
            try stack.perform(synchronous: { _ = try $0.importUniqueObjects(Into<Dog>(), sourceArray: names) })
        }
        let dogs = try stack.fetchAll(From<Dog>().orderBy(.ascending(\.name)))
        #expect(dogs.map(\.uniqueIDValue) == ["Kit", "Rex", "Tom"])
        // As by the property itself, there is no assignment outside a transaction.
        dogs[0].uniqueIDValue = "Kim"
        #expect(dogs[0].name == "Kit")
        try stack.perform(synchronous: { transaction in
            let kit = try #require(try transaction.edit(dogs[0]))
            kit.uniqueIDValue = "Kim"
            #expect(kit.name == "Kim" && kit.hasChanges)
        })
        #expect(try stack.fetchCount(From<Dog>().where(\.name == "Kim")) == 1)
    }

    @Test(arguments: TestStore.all) func objectsAreFoundOrMade(_ store: TestStore) throws {
        let stack = try store.stack()
        try stack.perform(synchronous: { transaction in
            for email in ["a", "b"] {
                let person = try transaction.create(Person.self)
                person.email = email
                person.name = "old"
            }
        })
        let order = try stack.perform(synchronous: { transaction in
            let imported = try transaction.importUniqueObjects(
                Into<Person>(),
                sourceArray: [
                    ["email": "c", "name": "new"], ["email": "a", "name": "first"], ["name": "nobody"], ["email": "b", "name": "keep"],
                    ["email": "d", "name": "skip"], ["email": "a", "name": "last"],
                ])
            return imported.map(\.email)
        })
        #expect(order == ["c", "a"])
        #expect(try people(stack) == [["a", "last"], ["b", "old"], ["c", "new"]])
        try stack.perform(synchronous: { transaction in
            let one = try transaction.importUniqueObject(Into<Person>(), source: ["email": "a", "name": "again"])
            #expect(one?.name == "again")
            let changed = try transaction.importUniqueObjects(
                Into<Person>(), sourceArray: [["email": "x", "name": "X"], ["email": "y", "name": "Y"]],
                preProcess: { $0.filter { $0.key != "x" } })
            #expect(changed.map(\.name) == ["Y"])
        })
        #expect(try people(stack).map { $0[0] } == ["a", "b", "c", "y"])
    }

    @Test(arguments: TestStore.all) func anErrorOfAnImportRollsBackTheWholeImport(_ store: TestStore) throws {
        let stack = try store.stack()
        #expect(throws: InvalidName.self) {
            try stack.perform(synchronous: { transaction in
                try transaction.importUniqueObjects(
                    Into<Person>(), sourceArray: [["email": "a", "name": "A"], ["email": "b", "name": ""]])
            })
        }
        #expect(try people(stack).isEmpty)
    }

    @Test(arguments: TestStore.all) func objectsWithoutIdentityAreMadeEachTime(_ store: TestStore) throws {
        let stack = try store.stack()
        try stack.perform(synchronous: { transaction in
            let made = try transaction.importObjects(Into<Person>(), sourceArray: [["name": "A"], ["name": "skip"], ["name": "A"]])
            #expect(made.map(\.name) == ["A", "A"])
        })
        #expect(try stack.fetchCount(From<Person>()) == 2)
    }

    @Test(arguments: TestStore.all) func valuesImportThemselves(_ store: TestStore) throws {
        let stack = try store.stack()
        let results = try stack.perform(synchronous: { transaction in
            try transaction.create(Person.self).name = "Ann"
            let dogs = [ImportedDog(id: 7, name: "Rex", owner: "Ann"), ImportedDog(id: 8, name: "Rolf", owner: "nobody")]
            let byID: [Int: PersistenceResult] = try transaction.importPersistableObjects(dogs)
            return byID
        })
        guard case .inserted(let key)? = results[7], case .failed(let error)? = results[8] else {
            Issue.record("another outcome: \(results)")
            return
        }
        #expect(error is InvalidName)
        #expect(try stack.fetchExisting(ObjectID<Dog>(key))?.owner?.name == "Ann")
        #expect(try stack.fetchCount(From<Dog>()) == 1)
    }
}
