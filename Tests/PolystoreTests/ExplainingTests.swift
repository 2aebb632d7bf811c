import Polystore
import TestStores
import Testing

/// How requests are answered, and what that takes, on every store.
@Suite struct ExplainingTests {
    /// Ten people of the ages 0 to 4, each with a dog.
    private func stack(_ store: TestStore) throws -> DataStack {
        let stack = try store.stack()
        try stack.perform(synchronous: { transaction in
            for number in 0..<10 {
                let person = try transaction.create(Person.self), dog = try transaction.create(Dog.self)
                (person.name, person.age, dog.owner) = ("P\(number)", number % 5, person)
            }
        })
        return stack
    }

    @Test(arguments: TestStore.all) func requestsAndRowsOfAFetchAreCounted(_ store: TestStore) throws {
        let stack = try stack(store)
        let request = From<Person>().where(\.age == 3)
        #expect(try stack.explain(request).stores.first?.work == nil)
        #expect(try stack.explain(request).answer == nil)
        let explanation = try stack.explain(request, analyze: true)
        let parts = try #require(explanation.stores.first), answer = try #require(explanation.answer)
        #expect(answer.count == 2 && answer.duration > .zero)
        #expect(parts.work?.requests == 1 && parts.work?.rowsRead == 2)
        #expect(!parts.plan.isEmpty)
        #expect(explanation.description.contains("1 requests, 2 rows read") && explanation.description.contains("2 in the answer"))
    }

    @Test(arguments: TestStore.all) func anObjectOfOneOfThreeStoresWithEqualKeysConcernsOnlyItsStore(_ store: TestStore) throws {
        let configurations: [String?] = [nil, "Second", "Third"], entities = ["Person", "Animal", "Dog"]
        let stack = try DataStack(
            models: [Person.self, Animal.self, Dog.self], configurations: ["Second": entities, "Third": entities])
        for configuration in configurations { try stack.addStorageAndWait(store.make(configuration: configuration)) }
        for (name, configuration) in zip(["A", "B", "C"], configurations) {
            try stack.perform(synchronous: { transaction in
                let person = try transaction.create(Into<Person>(configuration)), dog = try transaction.create(Into<Dog>(configuration))
                (person.name, dog.name, dog.owner) = (name, "\(name)'s dog", person)
            })
        }
        let people = try stack.fetchAll(From<Person>().orderBy(.ascending(\.name)))
        #expect(people.map(\.name) == ["A", "B", "C"] && people.map(\.objectID.key.key) == [1, 1, 1])
        for (place, person) in people.enumerated() {
            let dogs = From<Dog>().where(\.owner == person)
            let explanation = try stack.explain(dogs, analyze: true)
            #expect(explanation.stores.map(\.configuration) == configurations && explanation.answer?.count == 1)
            #expect(explanation.stores.map { $0.work?.rowsRead } == (0..<3).map { $0 == place ? 1 : 0 })
            #expect(try stack.fetchAll(dogs).map(\.name) == ["\(person.name)'s dog"])
            let snapshot = try #require(try stack.snapshot(of: person.objectID)), key = person.objectID.key
            #expect(snapshot.name == person.name && snapshot.objectID.key == key)
            #expect(snapshot.pets.map(\.key.store) == [key.store])
            let list = try stack.publishList(From<Person>().where(.isObject(in: [person.objectID])))
            #expect(list.snapshot.itemIDs == [person.objectID])
        }
    }

    @Test(arguments: TestStore.all) func rowsThatAreFilteredAboveTheStoreAreCounted(_ store: TestStore) throws {
        let stack = try stack(store)
        // The server's tables of letters are its own.
        let request = From<Person>().where((\Person.name).uppercase == "P3" && \.age > 0)
        let explanation = try stack.explain(request, analyze: true)
        let parts = try #require(explanation.stores.first), isAnswered = store != .postgresql
        #expect(parts.conditions.map { $0.pushdown == .exact } == [isAnswered, true])
        #expect(explanation.answer?.count == 1)
        #expect(parts.work?.rowsRead == (isAnswered ? 1 : 8))
    }

    @Test(arguments: TestStore.all) func arithmeticThatCanFailOnAServerReadsOnlyWhatItFinds(_ store: TestStore) throws {
        let stack = try stack(store)
        let explanation = try stack.explain(From<Person>().where(\.age * 2 == 6), analyze: true)
        let parts = try #require(explanation.stores.first)
        #expect(parts.conditions.map(\.pushdown) == [store == .postgresql ? .inexact : .exact])
        #expect(explanation.answer?.count == 2 && parts.work?.rowsRead == 2)
    }

    @Test(arguments: TestStore.all) func relationshipsLoadedInAdvanceAreCounted(_ store: TestStore) throws {
        let stack = try stack(store)
        let parts = try #require(try stack.explain(From<Dog>().prefetch(\.owner), analyze: true).stores.first)
        #expect(parts.work?.requests == 2 && parts.work?.rowsRead == 20)
        // One request for each batch, and one for the owners of each.
        let small = try #require(try stack.explain(From<Dog>().prefetch(\.owner).batchSize(5), analyze: true).stores.first)
        #expect(small.work?.requests == 3 && small.work?.rowsRead == 20)
    }

    @Test(arguments: TestStore.all) func queriesAreExplained(_ store: TestStore) throws {
        let stack = try stack(store)
        let query = From<Person>().where(\.age > 0).select(.attribute(\.age), .count(as: "number"), .median(\.age)).groupBy(\.age)
        let explanation = try stack.explain(query, analyze: true)
        let parts = try #require(explanation.stores.first)
        #expect(parts.conditions.map(\.text) == ["age > 0"])
        #expect(parts.values.map(\.text) == ["age", "number", "median(age)"])
        #expect(parts.values.map(\.pushdown) == [.exact, .exact, .exact])
        #expect(explanation.isExact)
        #expect(explanation.answer?.count == 4)
        #expect(parts.work?.rowsRead == 4)
        let total = try stack.explain(From<Person>().select(Int.self, .sum(\.age)), analyze: true)
        #expect(total.isExact && total.answer?.count == 1 && total.stores.first?.work?.rowsRead == 1)
        #expect(try stack.explain(From<Person>().orderBy(.ascending(\.age)).tuples(\.name, \.age)).isExact)
    }

    @Test(arguments: TestStore.all) func aQueryLeftToTheLayerIsRefusedWhereStoresAreToAnswer(_ store: TestStore) throws {
        let stack = try stack(store)
        let sum = From<Person>().storeOnly().select(Int.self, .sum(\.age)),
            median = From<Person>().storeOnly().select(Double.self, .median(\.age))
        #expect(try stack.queryValue(sum) == 20)
        #expect(try stack.queryValue(median) == 2)
        if store == .postgresql {
            let upper = From<Person>().storeOnly().select(.expression((\Person.name).uppercase, as: "upper"))
            #expect { try stack.queryAttributes(upper) } throws: { error in
                (error as? StorageError)?.code == .unsupported && "\(error)".contains("upper")
            }
            let request = From<Person>().where(\.age * 2 == 6).storeOnly()
            #expect { try stack.fetchCursor(request) } throws: { ($0 as? StorageError)?.code == .unsupported }
            #expect { try stack.fetchCount(request) } throws: { ($0 as? StorageError)?.code == .unsupported }
            #expect { try stack.fetchIDs(request) } throws: { ($0 as? StorageError)?.code == .unsupported }
        }
    }

    @Test(arguments: TestStore.all) func explanationsContainTheMeasurementsOfTheEngine(_ store: TestStore) throws {
        let stack = try stack(store)
        let plan = try #require(
            try stack.explain(From<Person>().where(\.name == "P3"), analyze: true).stores.first?.plan.joined(separator: "\n"))
        switch store {
        case .sqlite: #expect(plan.contains("1 rows found, 9 steps of full scans"))
        case .postgresql: #expect(plan.contains("actual time") && plan.contains("rows=1"))
        case .memory, .lmdb: #expect(plan.contains("SCAN"))
        }
    }

    /// A server compares all objects with all others where it cannot join them.
    @Test(arguments: TestStore.all) func conditionsOnMembersOfManyToManyRelationshipsAreJoined(_ store: TestStore) throws {
        let schema = try Schema(entities: [
            Entity(
                "Task", attributes: [Attribute("number", .int64)],
                relationships: [Relationship("tags", to: "Tag", .toMany, inverse: "tasks")]),
            Entity(
                "Tag", attributes: [Attribute("weight", .int64)],
                relationships: [Relationship("tasks", to: "Task", .toMany, inverse: "tags")]),
        ])
        let stack = try DataStack(schema: schema)
        try stack.addStorageAndWait(store.make())
        try stack.perform(synchronous: { transaction in
            let tags = try (0..<20).map { number in
                let tag = try transaction.create(Into<DynamicObject>(entity: "Tag"))
                try tag.setValue(.int(Int64(number)), for: "weight")
                return tag
            }
            for number in 0..<20 {
                let task = try transaction.create(Into<DynamicObject>(entity: "Task"))
                try task.setValue(.int(Int64(number)), for: "number")
                try task.setObjects([tags[number], tags[(number + 1) % 20]], for: "tags")
            }
        })
        let joined = [
            ("ANY tags.weight > 15", 5), ("NOT ANY tags.weight > 15", 15), ("ANY tags.tasks.number == 3", 3),
            ("ANY tags SATISFIES $x ($x.weight == number AND ANY $x.tasks.number < number)", 19), ("tags.@count == 2", 20),
            ("tags.@sum.weight == 19", 2), ("ANY tags SATISFIES $x ($x.weight > 0 AND 100 / $x.weight > 40)", 3),
        ]
        for (condition, count) in joined {
            let request = From<DynamicObject>(entity: "Task").where(Where(format: condition))
            #expect(try stack.fetchCount(request) == count, "\(condition)")
            let plan = try #require(try stack.explain(request).stores.first?.plan.joined(separator: "\n"))
            // The pairs are joined, whatever else is left to a subquery.
            #expect(
                store != .postgresql || condition.contains("@") || plan.contains("mt0p.owner = mt0._id") || !plan.contains("SubPlan"),
                "\(condition): \(plan)")
        }
    }
}
