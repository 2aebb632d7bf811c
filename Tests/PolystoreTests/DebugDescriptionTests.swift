import Foundation
import Polystore
import PolystoreInMemory
import PolystoreLMDB
import PolystorePostgreSQL
import PolystoreSQLite
import Testing

@Suite struct DebugDescriptionTests {
    @Test func debugDescriptionsShowTheState() throws {
        let stack = try DataStack(Person.self, Animal.self, Dog.self)
        try stack.addStorageAndWait(InMemoryStore())
        #expect(stack.debugDescription.hasPrefix("DataStack of model \"1\", 3 entities, 1 stores\n  0: memory (all entities) "))
        try stack.perform(
            author: "ann",
            synchronous: { transaction in
                let person = try transaction.create(Person.self)
                person.name = "Ann"
                #expect(
                    person.debugDescription
                        == "Person 1 version 0 new\n  age: 0\n  email: null\n  name: \"Ann\"\n  partner: null")
                #expect(transaction.debugDescription == "WriteTransaction by \"ann\": 1 inserted, 0 updated, 0 deleted")
            })
        let from = From<Person>().where(\.age > 3).orderBy(.descending(\.name)).limit(2).offset(1).prefetch(\.pets)
        #expect(from.debugDescription == "From<Person> where age > 3 order by name descending limit 2 offset 1 prefetch pets")
        #expect(Into<Person>("Cache").debugDescription == "Into<Person>(Cache)")
        let view = stack.makeViewContext()
        let people = try view.fetchAll(From<Person>())
        #expect(view.debugDescription == "ViewContext merging automatic, 1 objects alive")
        #expect(people[0].debugDescription.hasPrefix("Person 1 version 1\n"))
        let error = StorageError(
            .validationFailed, "a is wrong",
            details: .init(entity: "Person", keys: [1, 2], failures: [ValidationFailure("age", "must be less")]))
        #expect(
            error.debugDescription
                == "validationFailed: a is wrong\n  entity: Person\n  keys: 1, 2\n  failure: age must be less (key 0)")
    }

    /// A stack with Ann (1) and Bob (2), who are 3 and 5, and Ann's dogs 1 and 2.
    private func stack() throws -> DataStack {
        let stack = try DataStack(Person.self, Animal.self, Dog.self)
        try stack.addStorageAndWait(InMemoryStore())
        try stack.perform(
            author: "ann",
            synchronous: { transaction in
                let ann = try transaction.create(Person.self), bob = try transaction.create(Person.self)
                (ann.name, ann.age, bob.name, bob.age) = ("Ann", 3, "Bob", 5)
                ann.partner = bob
                ann.pets = [try transaction.create(Dog.self), try transaction.create(Dog.self)]
            })
        return stack
    }

    @Test func descriptionsOfListsShowTheirKeys() throws {
        let stack = try stack(), view = stack.makeViewContext()
        let people = From<Person>().orderBy(.descending(\.age))
        let list = try view.monitorList(people)
        #expect(list.debugDescription == "ListMonitor of From<Person> order by age descending: 2 objects\n  2, 1")
        #expect(list.snapshot.debugDescription == "ListSnapshot<Person>: 2 objects\n  2, 1")
        let sections = try view.monitorSectionedList(people, sectionBy: SectionBy(\.age))
        #expect(
            sections.debugDescription
                == "ListMonitor of From<Person> order by age descending: 2 objects\n  \"5\": 2\n  \"3\": 1")
        #expect(SectionBy<Person>(\.age).debugDescription == "SectionBy<Person>(age)")
        let publisher = try stack.publishList(From<Person>().where(\.age > 4))
        #expect(publisher.debugDescription == "ListPublisher<Person>: 1 object\n  2")
        #expect(ListSnapshot<Person>().debugDescription == "ListSnapshot<Person>: 0 objects")
        #expect(try view.monitorList(From<Person>().where(\.age > 9)).snapshot.debugDescription == "ListSnapshot<Person>: 0 objects")
        #expect("\(String(reflecting: list))" == list.debugDescription)
    }

    @Test func aLongListIsAbbreviated() throws {
        let stack = try stack()
        try stack.perform(synchronous: { transaction in for _ in 0..<20 { _ = try transaction.create(Person.self) } })
        let list = try stack.makeViewContext().monitorList(From<Person>())
        let keys = (1...20).map(String.init).joined(separator: ", ")
        #expect(list.snapshot.debugDescription == "ListSnapshot<Person>: 22 objects\n  \(keys), …")
    }

    @Test func descriptionsOfChangesShowTheIndexPaths() {
        var changes = ListChanges()
        #expect(changes.debugDescription == "ListChanges: none")
        changes.deletedSections = [1]
        changes.inserted = [IndexPath(indexes: [0, 1]), IndexPath(indexes: [0, 2])]
        changes.moved = [ListChanges.Move(from: IndexPath(indexes: [0, 2]), to: IndexPath(indexes: [0, 0]))]
        #expect(changes.debugDescription == "ListChanges: deleted sections 1; inserted 0-1, 0-2; moved 0-2 to 0-0")
    }

    @Test func descriptionsOfObjectsShowTheirValues() throws {
        let stack = try stack(), view = stack.makeViewContext()
        let ann = try #require(try view.fetchOne(From<Person>())), id = ann.objectID
        let values = "Person 1 version 1\n  age: 3\n  email: null\n  name: \"Ann\"\n  partner: "
        let monitor = try view.monitorObject(ann), publisher = try stack.publishObject(id)
        #expect(monitor.debugDescription == "ObjectMonitor of \(ann.debugDescription)")
        #expect(publisher.snapshot?.debugDescription == "ObjectSnapshot of \(values)Person 2\n  pets: [Animal 1, Animal 2]")
        #expect(publisher.debugDescription == "ObjectPublisher of \(values)Person 2\n  pets: [Animal 1, Animal 2]")
        try stack.perform(synchronous: { transaction in
            let ann = try transaction.edit(id)
            ann?.pets = []
            ann?.partner = nil
        })
        #expect(try stack.publishObject(id).debugDescription.hasSuffix("\n  name: \"Ann\"\n  partner: null\n  pets: []"))
        try stack.perform(synchronous: { try $0.deleteAll(From<Person>()) })
        try view.merge()
        #expect(monitor.debugDescription == "ObjectMonitor of Person 1, which was deleted")
        let values2 = try stack.publishValue(of: Person.self) { try $0.fetchCount(From<Person>()) }
        #expect(values2.debugDescription == "ValuePublisher<Int>: 0")
    }

    @Test func descriptionsOfTheHistoryShowAuthorsAndChanges() async throws {
        let stack = try stack()
        let transaction = try #require(try stack.history().transactions.first), time = transaction.time.ISO8601Format()
        #expect(
            transaction.debugDescription
                == "HistoryTransaction \(transaction.token.position) by \"ann\" at \(time): \(transaction.changes.count) changes of Dog, Person (4 inserted)"
        )
        #expect("\(transaction.changes)" == "4 changes of Dog, Person (4 inserted)")
        #expect(Set(transaction.changes.map(\.description)).isSuperset(of: ["inserted Person 1", "inserted Person 2", "inserted Dog 1"]))
        let commits = try stack.commits()
        try stack.perform(author: "bob", synchronous: { try $0.create(Person.self).name = "Cid" })
        var iterator = commits.makeAsyncIterator()
        #expect(await iterator.next()?.debugDescription == "StackCommit by \"bob\": 1 change of Person (1 inserted)")
    }

    @Test func changesOfMembersAreCountedApart() throws {
        let club = Entity(
            "Club", attributes: [Attribute("name", .string, defaultValue: .string(""))],
            relationships: [Relationship("friends", to: "Club", .toMany)])
        let stack = try DataStack(schema: Schema(version: "1", entities: [club]))
        try stack.addStorageAndWait(InMemoryStore())
        let id = try stack.perform(synchronous: { transaction in
            try transaction.create(Into<DynamicObject>(entity: "Club")).objectID
        })
        try stack.perform(synchronous: { transaction in
            let club = try #require(try transaction.fetchExisting(id)), other = try transaction.create(Into<DynamicObject>(entity: "Club"))
            try club.setObjects([other], for: "friends")
        })
        try stack.perform(synchronous: { try $0.fetchExisting(id)?.setValue(.string("a"), for: "name") })
        let changes = try stack.history().transactions.map(\.changes)
        #expect(
            changes.map(\.description) == [
                "1 change of Club (1 inserted)", "2 changes of Club (1 inserted, 1 relinked)", "1 change of Club (1 updated)",
            ])
        #expect(changes.map { $0.relinkedObjectIDs(DynamicObject.self) } == [[], [id], []])
        // Its members changed, but none of its values.
        #expect(changes.map { $0.updatedObjectIDs(DynamicObject.self) } == [[], [id], [id]])
    }

    @Test func statisticsShowFailures() throws {
        let stack = try stack()
        stack.recordsRequests = true
        _ = try stack.fetchCount(From<Person>().where(\.age > 3))
        #expect(stack.requestStatistics().first?.description.hasPrefix("count Person where age > ?: 1 request, 1 row in ") == true)
        stack.clearRequestStatistics()
        #expect(throws: StorageError.self) { try stack.fetchCount(From<Person>(entity: "Nobody")) }
        let failed = try #require(stack.requestStatistics().first)
        #expect(failed.failures == 1 && failed.description.contains(": 1 request (1 failed), 0 rows in "), "\(failed)")
    }

    @Test func descriptionsOfModelsAndQueriesShowTheirParts() throws {
        let schemas = try ["V1", "V2"].map { try Schema(version: $0, entities: [Entity("Note")]) }
        #expect(
            try SchemaHistory(schemas: schemas, migrationChain: ["V1", "V2"]).debugDescription
                == #"SchemaHistory of "V1", "V2", current "V2", migrated "V1" → "V2""#)
        #expect(
            try SchemaHistory(schemas: schemas).debugDescription
                == #"SchemaHistory of "V1", "V2", current "V2", migrated directly to the current version"#)
        #expect(Select<Person>.attribute(\.age).debugDescription == "Select<Person>(age)")
        #expect(Select<Person>.average(\.age, as: "mean").debugDescription == "Select<Person>(@avg(age) as mean)")
        let progress = MigrationProgress(steps: 2)
        #expect(progress.debugDescription == "MigrationProgress: 0% completed, 0 of 2")
        progress.cancel()
        #expect(progress.debugDescription == "MigrationProgress: 0% completed, 0 of 2, cancelled")
    }

    @Test func descriptionsOfStoresShowTheirPlacesWithoutPasswords() throws {
        #expect(InMemoryStore(configuration: "Cache").debugDescription == "InMemoryStore (Cache)")
        #expect(SQLiteStore(path: "/tmp/a.db").debugDescription == "SQLiteStore /tmp/a.db (all entities)")
        #expect(LMDBStore(path: "/tmp/a.lmdb", readOnly: true).debugDescription == "LMDBStore /tmp/a.lmdb (all entities) read-only")
        func text(_ conninfo: String) -> String { PostgreSQLStore(conninfo: conninfo).debugDescription }
        let shop = "PostgreSQLStore at db.example.com:5433 database \"shop\" schema \"polystore\" (all entities)"
        #expect(text("postgresql://ann:s3cret@db.example.com:5433/shop?sslpassword=s3cret") == shop)
        #expect(text("host=db.example.com port=5433 dbname=shop user=ann password=s3cret") == shop)
        #expect(text("ann:s3cret@db.example.com/shop") == "PostgreSQLStore at the default server schema \"polystore\" (all entities)")
        #expect(text("postgresql://ann:s3cret@[db/shop") == "PostgreSQLStore at an invalid address schema \"polystore\" (all entities)")
    }
}
