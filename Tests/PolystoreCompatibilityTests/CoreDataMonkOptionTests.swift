import Foundation
import PolystoreCompatibility
import TestStores
import Testing

/// The options and key paths of CoreDataMonk's requests.
@Suite struct CoreDataMonkOptionTests {
    /// A context over three people: Ann (20, Taipei) is a friend of Bob (30, Taipei), who is a friend of Cid (30, Tokyo).
    private func world(_ store: TestStore) throws -> CoreDataMainContext {
        let stack = CoreDataStack(try sampleStack())
        try stack.dataStack.addStorageAndWait(store.make())
        let World = try CoreDataMainContext(stack: stack)
        try World.beginUpdateAndWait { update in
            var people: [MyPersonEntity] = []
            for (name, age, location) in [("Ann", 20, "Taipei"), ("Bob", 30, "Taipei"), ("Cid", 30, "Tokyo")] {
                let person = try update.create(MyPersonEntity.self)
                (person.name, person.age, person.location) = (name, age, location)
                people.append(person)
            }
            people[0].friend = people[1]
            people[1].friend = people[2]
            try update.commit()
        }
        World.reset()
        return World
    }

    @Test(arguments: TestStore.all) func aKeyPathReachesAFriend(_ store: TestStore) throws {
        let World = try world(store)
        #expect(try World.fetchAll(MyPersonEntity.self, %"friend.age" == 30 && %"friend.location" == "Tokyo").map(\.name) == ["Bob"])
        #expect(try World.fetchAll(MyPersonEntity.self, %"friend.age" > %"age").map(\.name) == ["Ann"])
        #expect(try World.fetchAll(MyPersonEntity.self, %"friend.friend.name" == "Cid").map(\.name) == ["Ann"])
    }

    @Test(arguments: TestStore.all) func optionsAreKeptInAVariable(_ store: TestStore) throws {
        let World = try world(store)
        let options: CoreDataQueryOptions = .limit(3) | .offset(1) | .limit(1)
        let query: CoreDataQuery<MyPersonEntity> = %"age" >= 20
        let order: CoreDataOrderBy<MyPersonEntity> = .descending("name")
        #expect(try World.fetchAll(MyPersonEntity.self, query, orderBy: order, options: options).map(\.name) == ["Bob"])
        #expect(try World.fetch(MyPersonEntity.self, query, options: .offset(2)).name == "Cid")
        let select: CoreDataSelect = .select("name"), key: CoreDataQueryKey = %"age"
        #expect(try World.query(MyPersonEntity.self, select, key < 30).map { $0["name"] as? String } == ["Ann"])
    }

    @Test(arguments: TestStore.all) func anUpdateFetchesWithOptions(_ store: TestStore) throws {
        let World = try world(store)
        try World.beginUpdateAndWait { update in
            let dan = try update.create(MyPersonEntity.self)
            dan.name = "Dan"
            func names(_ options: FetchOptions) throws -> [String?] {
                try update.fetchAll(MyPersonEntity.self, orderBy: .descending("name"), options: options).map(\.name)
            }
            #expect(try names(.limit(2)) == ["Dan", "Cid"])
            #expect(try names(.noPendingChanges | .limit(2)) == ["Cid", "Bob"])
        }
    }

    @Test(arguments: TestStore.all) func valuesThatWereNotFetchedAreLoadedOnFirstUse(_ store: TestStore) throws {
        let World = try world(store)
        for (options, location) in [(FetchOptions.noPropertyValues, "Kaohsiung"), (.propertiesOnly(["location"]), "Taipei")] {
            World.reset()
            let ann = try World.fetch(MyPersonEntity.self, %"name" == "Ann", options: options)
            // The values are those of the moment at which they are loaded.
            let id = ann.objectID
            try World.stack.dataStack.perform(synchronous: { transaction in
                let person = try transaction.edit(id)
                person?.age += 1
                person?.location = "Kaohsiung"
            })
            let expected = try World.stack.dataStack.fetchExisting(id)?.age
            #expect(ann.age == expected)
            #expect(ann.location == location)
            try World.stack.dataStack.perform(synchronous: { try $0.edit(id)?.location = "Taipei" })
        }
    }

    @Test(arguments: TestStore.all) func destinationsArePrefetched(_ store: TestStore) throws {
        let World = try world(store)
        // A relationship that was not prefetched is an error.
        World.stack.dataStack.relationships = .strict
        let ann = try World.fetch(MyPersonEntity.self, %"name" == "Ann", options: .prefetch(["friend.friend"]))
        #expect(ann.friend?.friend?.name == "Cid")
        #expect { try World.fetch(MyPersonEntity.self, %"name" == "Ann", options: .prefetch(["enemy"])) } throws: {
            ($0 as? StorageError)?.code == .invalidPredicate
        }
    }

    @Test(arguments: TestStore.all) func aBatchHasAtLeastOneObject(_ store: TestStore) throws {
        let World = try world(store)
        #expect(try World.fetchAll(MyPersonEntity.self, options: .batch(2)).count == 3)
        #expect { try World.fetchAll(MyPersonEntity.self, options: .batch(0)) } throws: { error in
            "\(error)".contains("the batch size must be at least 1, not 0")
        }
    }

    @Test(arguments: TestStore.all) func aQueryOmitsDuplicateRows(_ store: TestStore) throws {
        let World = try world(store)
        func rows(_ options: FetchOptions?) throws -> [String] {
            try World.query(MyPersonEntity.self, .select("age"), orderBy: .ascending("age"), options: options).map {
                "\($0["age"] ?? "nil")"
            }
        }
        #expect(try rows(nil) == ["20", "30", "30"])
        #expect(try rows(.distinct) == ["20", "30"])
        // The other options of fetches have no effect on the rows of a query.
        #expect(try rows(.propertiesOnly(["name"]) | .noPropertyValues) == ["20", "30", "30"])
    }

    @Test(arguments: TestStore.all) func fetchResultsAreAListThatFollowsCommits(_ store: TestStore) throws {
        let World = try world(store)
        let results = try World.fetchResults(MyPersonEntity.self, %"age" >= 30, orderBy: .ascending("name"))
        let sections = try World.fetchResults(
            MyPersonEntity.self, orderBy: .ascending("location") | .descending("name"), sectionBy: %"location")
        #expect((0..<results.numberOfObjects).map { results[$0].name } == ["Bob", "Cid"])
        try World.beginUpdateAndWait { update in
            try update.fetch(MyPersonEntity.self, %"name" == "Ann").age = 31
            try update.commit()
        }
        #expect((0..<results.numberOfObjects).map { results[$0].name } == ["Ann", "Bob", "Cid"])
        #expect(sections.sections.map(\.name) == ["Taipei", "Tokyo"])
        #expect(sections[0, 0].name == "Bob" && sections[0, 1].name == "Ann" && sections[1, 0].name == "Cid")
    }
}
