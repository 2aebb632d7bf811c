import Foundation
import PolystoreCompatibility
import TestStores
import Testing

/// CoreStore's query chains, whose clauses follow `select`, and its clauses with a class: the answers are those of the native requests.
@Suite struct QueryChainTests {
    private typealias Person = MyPersonEntity
    private let people = From<MyPersonEntity>()

    private func stack(_ store: TestStore = .memory) throws -> DataStack {
        let stack = try sampleStack()
        try stack.addStorageAndWait(store.make(configuration: "Config2"))
        try stack.perform(synchronous: { transaction in
            for (name, age, location) in [("Ann", 30, "Ulm"), ("Ben", 25, "Bonn"), ("Cid", 42, nil), ("Dan", 30, "Ulm")] {
                let person = try transaction.create(Person.self)
                (person.name, person.age, person.location) = (name, age, location)
            }
        })
        return stack
    }

    @Test(arguments: TestStore.all) func clausesFollowASelectedValue(_ store: TestStore) throws {
        let stack = try stack(store)
        defer { for storage in stack.storages { try? storage.erase() } }
        let native = try stack.queryValue(people.where(\.$age < 40).select(Int.self, .maximum(\.$age)))
        #expect(native == 30)
        #expect(try stack.queryValue(people.select(Int.self, .maximum(\.$age)).where(\.$age < 40)) == native)
        #expect(try stack.queryValue(people.select(Int.self, .maximum(\.$age)).where(format: "%K < %d", "age", 40)) == native)
        let combined = people.select(Int.self, .maximum(\.$age)).where(combineByAnd: \.$age < 40, \.$name == "Ben")
        #expect(try stack.queryValue(combined) == 25)
        #expect(try stack.queryValue(people.select(Int.self, .sum(\.$age)).where(combineByOr: \.$age > 40, \.$name == "Ben")) == 67)
        // A value of the first row: the order says which.
        #expect(try stack.queryValue(people.select(\.$name).where(\.$age == 30).orderBy(.descending(\.$name))) == "Dan")
        #expect(try stack.queryValue(people.select(\.age).orderBy([.descending(\.$age)])) == 42)
        #expect(try stack.queryValue(people.select(\.$name).orderBy(.ascending(\.$name)).tweak { $0.fetchOffset = 1 }) == "Ben")
        // An order beside a value over all objects has no effect, as in Core Data.
        #expect(try stack.queryValue(people.select(Int.self, .maximum(\.$age)).orderBy(.ascending(\.$name))) == 42)
        #expect(try stack.queryValue(people.select(\.$location).where(\.$name == "Cid")) == nil)
    }

    @Test(arguments: TestStore.all) func clausesFollowSelectedRows(_ store: TestStore) throws {
        let stack = try stack(store)
        defer { for storage in stack.storages { try? storage.erase() } }
        let native = try stack.queryAttributes(
            people.where(\.$age < 40).orderBy(.ascending(\.$age)).select(.attribute(\.$age), .count(\.$name, as: "count")).groupBy(\.$age))
        let chained = try stack.queryAttributes(
            people.select(.attribute(\.$age), .count(\.$name, as: "count")).where(\.$age < 40).groupBy("age").orderBy(.ascending(\.$age)))
        #expect(chained == native && native.map { $0["count"] } == [.int(1), .int(2)])
        let clause = GroupBy<Person>(\.$age)
        #expect(clause.keyPaths == ["age"])
        let clauses: [any QueryClause<Person>] = [Where<Person>("age < 40"), clause, OrderBy<Person>(.ascending("age"))]
        let appended = people.select(.attribute(\.$age), .count(\.$name, as: "count"))
            .appending(contentsOf: clauses)
        #expect(try stack.queryAttributes(appended) == native)
    }

    @Test(arguments: TestStore.all) func rowsAreDictionaries(_ store: TestStore) throws {
        let stack = try stack(store)
        defer { for storage in stack.storages { try? storage.erase() } }
        func ages(_ rows: [[String: Any]]) -> [String] { rows.map { "\($0["name"] as? String ?? "-") \($0["age"] as? Int ?? 0)" } }
        let older = people.select(NSDictionary.self, .attribute(\.$name), .attribute(\.$age)).where(\.$age > 29).orderBy(
            .descending(\.$name))
        #expect(try ages(stack.queryAttributes(older)) == ["Dan 30", "Cid 42", "Ann 30"])
        #expect(try ages(stack.queryAttributes(older.tweak { $0.fetchLimit = 1 })) == ["Dan 30"])
        let swift = people.select([String: Any].self, .attribute(\.$name), .attribute(\.$age)).where(\.$age > 40)
        #expect(try ages(stack.queryAttributes(swift)) == ["Cid 42"])
        // A value that is nil is no key, as in the answers of Core Data.
        let places = try stack.queryAttributes(people.select(NSDictionary.self, .attribute(\.$location)).where(\.$age > 40))
        #expect(places.map(\.count) == [0])
        let grouped = try stack.queryAttributes(
            people.select(NSDictionary.self, .attribute(\.$age), .count(\.$name, as: "count")).groupBy(\.$age).orderBy(.ascending("age")))
        #expect(grouped.map { $0["count"] as? Int } == [1, 2, 1])
    }

    @Test(arguments: TestStore.all) func aClauseNamesItsClass(_ store: TestStore) throws {
        let stack = try stack(store)
        defer { for storage in stack.storages { try? storage.erase() } }
        let under = Where<Person>(\.$age < 40)
        #expect(try stack.queryValue(people, Select<Person, Int>(.maximum(\Person.$age)), under) == 30)
        #expect(try stack.queryValue(people, Select<Person, Int>(.maximum("age")), [under]) == 30)
        #expect(try stack.queryValue(people, Select<Int>(.maximum("age")), under) == 30)
        #expect(try stack.queryValue(people, Select<Person, Double>(.average(\Person.$age))) == 31.75)
        #expect(try stack.queryValue(people.select(Select<Person, Int>(.sum(\Person.$age))).where(under)) == 85)
        #expect(try stack.queryValue(people.select(Select<Int>(.count("name"))).where(under)) == 3)
        let rows = try stack.queryAttributes(
            people, Select<Person, NSDictionary>(.attribute(\Person.$age), .count(\Person.$name), .minimum(\Person.$name, as: "first")),
            under,
            GroupBy(\.$age), OrderBy(.ascending("age")))
        #expect(rows.map { $0["count(name)"] as? Int } == [1, 2] && rows.map { $0["first"] as? String } == ["Ben", "Ann"])
        let named = try stack.queryAttributes(people, Select<NSDictionary>("name", "age"), [Where<Person>("age > 40")])
        #expect(named.map { $0["name"] as? String } == ["Cid"] && named.map { $0["age"] as? Int } == [42])
        let mixed = try stack.queryAttributes(
            people.select(Select<Person, NSDictionary>("name", .attribute(\Person.$age))).where(\.$age > 40))
        #expect(mixed.map { $0["name"] as? String } == ["Cid"] && mixed.map { $0["age"] as? Int } == [42])
    }

    @Test(arguments: TestStore.all) func theIdentityOfAnObjectIsSelected(_ store: TestStore) throws {
        let stack = try stack(store)
        defer { for storage in stack.storages { try? storage.erase() } }
        let cid = try #require(try stack.fetchIDs(people.where(\.$name == "Cid")).first), isCid = Where<Person>(\.$name == "Cid")
        #expect(try stack.queryValue(people, Select<ObjectID<Person>>(), isCid) == cid)
        #expect(try stack.queryValue(people, Select<Person, ObjectID<Person>>(.objectID()), isCid) == cid)
        #expect(try stack.queryValue(people.select(ObjectID<Person>.self, .objectID()).where(isCid)) == cid)
        let rows = try stack.queryAttributes(people, Select("name", .objectID()), OrderBy(.ascending("name")))
        #expect(try rows.map { $0["objectID"] as? ObjectID<Person> } == stack.fetchIDs(people.orderBy(.ascending(\.$name))))
        let chained = try stack.queryAttributes(people.select(NSDictionary.self, .attribute(\.$name), .objectID(as: "id")).where(isCid))
        #expect(chained.map { $0["id"] as? ObjectID<Person> } == [cid] && chained.map { $0["name"] as? String } == ["Cid"])
    }

    @Test func theIdentityIsRefusedOverSeveralStores() throws {
        let stack = try sampleStack()
        for configuration in ["Config1", "Config2"] { try stack.addStorageAndWait(TestStore.memory.make(configuration: configuration)) }
        try stack.perform(synchronous: { transaction in
            for configuration in ["Config1", "Config2"] { _ = try transaction.create(Into(MyEntity.self, configuration)) }
        })
        #expect { try stack.queryAttributes(From<MyEntity>(), Select("name", .objectID())) } throws: {
            ($0 as? StorageError)?.code == .unsupported
        }
        let one = From<MyEntity>("Config2")
        #expect(try stack.queryValue(one, Select<ObjectID<MyEntity>>()) == stack.fetchIDs(one).first)
    }

    @Test func conditionsOfChainsHaveFormatsAndAreCombined() throws {
        let stack = try stack()
        func names(_ from: From<Person>) throws -> [String?] { try stack.fetchAll(from.orderBy(.ascending(\.$name))).map(\.name) }
        #expect(try names(people.where(format: "%K == %@", "name", "Ann")) == names(people.where(\.$name == "Ann")))
        #expect(try names(people.where(format: "%K == %@", "name", "Ann")) == ["Ann"])
        #expect(try names(people.where(format: "age IN %@", argumentArray: [[25, 42]])) == ["Ben", "Cid"])
        #expect(try names(people.where(combineByAnd: \.$age == 30, \.$name == "Dan")) == ["Dan"])
        #expect(try names(people.where(combineByOr: \.$age == 42, \.$name == "Dan")) == ["Cid", "Dan"])
        // The conditions of a chain must all hold.
        #expect(try names(people.where(combineByOr: \.$age == 42, \.$name == "Dan").where(format: "age > 40")) == ["Cid"])
    }

    @MainActor @Test func aChainWithSectionsReplacesAList() throws {
        let stack = try stack()
        let byPlace = people.sectionBy(\.$location).where(combineByOr: \.$location == "Ulm", \.$location == "Bonn")
            .where(format: "%K < %d", "age", 40).orderBy([.ascending(\.$location), .ascending(\.$name)])
        let monitor = try stack.monitorList(people.orderBy(.ascending(\.$name)))
        #expect(monitor.numberOfSections() == 1)
        try monitor.refetch(byPlace)
        #expect(monitor.sections.map(\.name) == ["Bonn", "Ulm"])
        #expect(try monitor.objects(in: 0).map(\.name) == ["Ben"] && monitor.objects(in: 1).map(\.name) == ["Ann", "Dan"])
        let publisher = try stack.publishList(people.orderBy(.ascending(\.$name)))
        try publisher.refetch(byPlace.where(combineByAnd: \.$location == "Ulm", \.$name == "Dan"))
        #expect(publisher.snapshot.sectionIDs == ["Ulm"] && publisher.snapshot.count == 1)
        try publisher.refetch(byPlace)
        #expect(try publisher.snapshot == stack.publishList(byPlace).snapshot)
    }

    @Test func fieldsOfTheEarlierFormAreSelected() throws {
        let stack = try makeStack()
        try stack.addStorageAndWait(TestStore.memory.make())
        try stack.perform(synchronous: { transaction in
            for age in 1...3 {
                let dog = try transaction.create(Dog.self)
                dog.age.value = age
                if age == 2 { dog.nickname.value = "Rex" }
            }
        })
        #expect(try stack.queryValue(From<Dog>().select(\.age).orderBy(.descending(\.age))) == 3)
        #expect(try stack.queryValue(From<Dog>().select(\.nickname).where(\.age == 2)) == "Rex")
        #expect(try stack.queryValue(From<Dog>().select(\.nickname).where(\.age == 1)) == nil)
        #expect(try stack.queryValue(From<Dog>(), Select<Dog, Int>(.sum(\Dog.age))) == 6)
    }
}
