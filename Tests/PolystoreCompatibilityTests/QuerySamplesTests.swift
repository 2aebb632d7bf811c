import Foundation
import PolystoreCompatibility
import TestStores
import Testing

// CoreStore 4's samples on fetching and querying. `gender`, `rating` and `surname` are `location`, `age` and `name` here.

extension DefaultStackTests {
    @Suite struct QuerySamplesTests {
        private func setUp(_ store: TestStore) throws {
            CoreStore.defaultStack = try sampleStack()
            try CoreStore.addStorageAndWait(store.make())
            try CoreStore.perform(synchronous: { transaction in
                for (name, age, location) in [("John Smith", 30, "M"), ("Jane Doe", 22, "F"), ("Old Man", 80, "M")] {
                    let person = try transaction.create(Into<MyPersonEntity>())
                    person.name = name
                    person.age = age
                    person.location = location
                }
                let all = try transaction.fetchAll(From<MyPersonEntity>())
                all[0].friends = [all[1], all[2]]
            })
        }

        @Test(arguments: TestStore.all) func fetching(_ store: TestStore) throws {
            try setUp(store)
            defer { CoreStore.defaultStack = .withoutEntities }
            var people = try CoreStore.fetchAll(
                From<MyPersonEntity>(),
                Where("%K > %d", "age", 30)  // string format initializer
            )
            #expect(people.map(\.name) == ["Old Man"])
            people = try CoreStore.fetchAll(
                From<MyPersonEntity>(),
                Where(true)  // boolean initializer
            )
            #expect(people.count == 3)
            people = try CoreStore.fetchAll(
                From<MyPersonEntity>(),
                Where("age > %d", 25) && Where("location == %@", "M")
            )
            #expect(people.map(\.name) == ["John Smith", "Old Man"])
            let mostValuablePeople = try CoreStore.fetchAll(
                From<MyPersonEntity>(),
                OrderBy(.descending("location"), .ascending("name"))
            )
            #expect(mostValuablePeople.map(\.name) == ["John Smith", "Old Man", "Jane Doe"])
            let sortFromYoungest = true
            var orderBy = OrderBy<MyPersonEntity>(.descending("location"))
            if sortFromYoungest {
                orderBy += OrderBy(.ascending("age"))
            }
            #expect(try CoreStore.fetchAll(From<MyPersonEntity>(), orderBy).map(\.age) == [30, 80, 22])
            people = try CoreStore.fetchAll(
                From<MyPersonEntity>(),
                Where("age > %d", 25),
                OrderBy(.ascending("name")),
                Tweak { (fetchRequest) -> Void in
                    fetchRequest.includesPendingChanges = false
                    fetchRequest.returnsObjectsAsFaults = false
                    fetchRequest.includesSubentities = false
                    fetchRequest.fetchBatchSize = 2
                    fetchRequest.propertiesToFetch = ["name"]
                }
            )
            #expect(people.map(\.age) == [30, 80])
            #expect(try CoreStore.fetchCount(From<MyPersonEntity>(), Where("age > 30")) == 1)
            let ids = try CoreStore.fetchObjectIDs(From<MyPersonEntity>(), Where("age > 25"), OrderBy(.descending("age")))
            #expect(try CoreStore.fetchExisting(ids).map(\.age) == [80, 30])
            #expect(try CoreStore.fetchObjectID(From<MyPersonEntity>(), OrderBy(.descending("age"))) == ids.first)
            #expect(try CoreStore.defaultStack.fetchObjectID(From<MyPersonEntity>(), Where("age > 90")) == nil)
            #expect(try CoreStore.defaultStack.fetchObjectIDs(From<MyPersonEntity>(), Where("age > 30")) == [ids[0]])
            try CoreStore.perform(synchronous: { transaction in
                let found = try transaction.fetchObjectIDs(From<MyPersonEntity>())
                let oldest = try transaction.fetchObjectID(From<MyPersonEntity>(), Where("age == 80"))
                #expect(found.count == 3 && oldest == ids.first)
            })
            let optional: Where<MyPersonEntity>? = nil
            #expect(try CoreStore.fetchAll(From<MyPersonEntity>(), Where("age > 30") &&? optional).count == 1)
            #expect(try CoreStore.fetchAll(From<MyPersonEntity>(), [Where("age > 25"), Where("age < 70")].combinedByAnd()).count == 1)
            for storage in CoreStore.defaultStack.storages { try storage.erase() }
        }

        @Test(arguments: TestStore.all) func querying(_ store: TestStore) throws {
            try setUp(store)
            defer { CoreStore.defaultStack = .withoutEntities }
            let johnsAge = try CoreStore.queryValue(
                From<MyPersonEntity>(),
                Select<Int>("age"),
                Where("name == %@", "John Smith")
            )
            #expect(johnsAge == 30)
            let allAges = try CoreStore.queryAttributes(
                From<MyPersonEntity>(),
                Select("age")
            )
            #expect(allAges.compactMap { $0["age"] as? Int } == [30, 22, 80])
            let oldestAge = try CoreStore.queryValue(
                From<MyPersonEntity>(),
                Select<Int>(.maximum("age"))
            )
            #expect(oldestAge == 80)
            var personJSON = try CoreStore.queryAttributes(
                From<MyPersonEntity>(),
                Select("name", "age")
            )
            #expect(personJSON.map { "\($0["name"] ?? "") \($0["age"] ?? "")" } == ["John Smith 30", "Jane Doe 22", "Old Man 80"])
            personJSON = try CoreStore.queryAttributes(
                From<MyPersonEntity>(),
                Select("name", .count("friends"))
            )
            #expect(personJSON.compactMap { $0["count(friends)"] as? Int } == [2, 0, 0])
            personJSON = try CoreStore.queryAttributes(
                From<MyPersonEntity>(),
                Select("name", .count("friends", as: "friendsCount"))
            )
            #expect(personJSON.compactMap { $0["friendsCount"] as? Int } == [2, 0, 0])
            personJSON = try CoreStore.queryAttributes(
                From<MyPersonEntity>(),
                Select("age", .count("age", as: "count")),
                GroupBy("age")
            )
            #expect(personJSON.map { "\($0["age"] ?? "") \($0["count"] ?? "")" } == ["22 1", "30 1", "80 1"])
            // The same as chains, and with the class of the objects.
            let chained = try CoreStore.queryAttributes(
                From<MyPersonEntity>()
                    .select(.attribute(\.$age), .count(\.$age, as: "count"))
                    .groupBy(\.$age)
            )
            #expect(chained.map { $0["age"] } == [.int(22), .int(30), .int(80)])
            personJSON = try CoreStore.queryAttributes(
                From<MyPersonEntity>().select(NSDictionary.self, .attribute(\.$age)).where(\.$name == "Jane Doe"))
            #expect(personJSON.compactMap { $0["age"] as? Int } == [22])
            personJSON = try CoreStore.queryAttributes(
                From<MyPersonEntity>(), Select<NSDictionary>("age"), Where("name == %@", "Old Man"))
            #expect(personJSON.compactMap { $0["age"] as? Int } == [80])
            let age = try CoreStore.queryValue(
                From<MyPersonEntity>()
                    .select(\.$age)  // binds the result to Int
                    .where(\.$name == "John Smith")
            )
            #expect(age == johnsAge)
            let known = try CoreStore.queryValue(
                From<MyPersonEntity>(), Select<MyPersonEntity, Int>("age"), Where("name == %@", "John Smith"))
            #expect(known == johnsAge)
            #expect(try CoreStore.queryValue(From<MyPersonEntity>().select(Select<Int>(.maximum("age")))) == 80)
            for storage in CoreStore.defaultStack.storages { try storage.erase() }
        }

        @Test func deletingWhatAQueryFinds() throws {
            try setUp(.memory)
            defer { CoreStore.defaultStack = .withoutEntities }
            _ = try CoreStore.perform(
                synchronous: { transaction in
                    try transaction.deleteAll(
                        From<MyPersonEntity>(),
                        Where("age > 30")
                    )
                })
            #expect(try CoreStore.fetchCount(From<MyPersonEntity>()) == 2)
        }
    }
}
