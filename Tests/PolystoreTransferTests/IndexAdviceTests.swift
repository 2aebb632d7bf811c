import Polystore
import PolystoreInMemory
import PolystoreStorage
import PolystoreTransfer
import TestStores
import Testing

/// Indexes that are proposed for recorded requests.
@Suite struct IndexAdviceTests {
    private static func schema(_ indexes: [Index] = []) throws -> Schema {
        try Schema(entities: [
            Entity(
                "Person",
                attributes: [
                    Attribute("name", .string), Attribute("city", .string), Attribute("age", .int64), Attribute("email", .string),
                ], indexes: indexes, uniqueConstraints: [UniqueConstraint(["email"])]),
            Entity("Child", parent: "Person", attributes: [Attribute("school", .string)]),
        ])
    }

    /// A stack with people in 100 cities.
    private static func stack(_ store: any StorageInterface, count: Int = 0, _ indexes: [Index] = []) throws -> DataStack {
        let stack = try DataStack(schema: schema(indexes))
        try stack.addStorageAndWait(store)
        try stack.perform(synchronous: { transaction in
            for number in 0..<count {
                let person = try transaction.create(Into<DynamicObject>(entity: "Person"))
                try person.setValue(.string("name \(number)"), for: "name")
                try person.setValue(.string("city \(number % 100)"), for: "city")
                try person.setValue(.int(Int64(number % 90)), for: "age")
                try person.setValue(.string("\(number)@example.com"), for: "email")
            }
        })
        stack.recordsRequests = true
        return stack
    }

    private func people(_ condition: String? = nil, order: [String] = [], limit: Int? = nil) throws -> From<DynamicObject> {
        var from = From<DynamicObject>(entity: "Person").orderBy(OrderBy(terms: order.map { OrderTerm(PropertyPath($0)) }))
        if let condition { from = from.where(Where(try QueryPredicate(parsing: condition))) }
        if let limit { from = from.limit(limit) }
        return from
    }

    private func properties(_ items: [IndexAdvice.Item]) -> [[String]] { items.map(\.properties) }

    @Test func requestsWithoutAPlanAreLeftOut() throws {
        let stack = try Self.stack(InMemoryStore(), count: 10)
        _ = try stack.fetchAll(people("city == \"city 1\""))
        #expect((try? stack.fetchAll(people("nonsense == 1"))) == nil)
        let numbers = try people().select([.count(as: "number")]).groupBy(named: "city").orderBy(.descending("number")).limit(3)
        #expect(try stack.queryAttributes(numbers).count == 3)
        let advice = try stack.adviseIndexes()
        #expect(properties(advice.proposals) == [["city"]])
    }

    @Test func anExistingStoreIsNoCopy() throws {
        let kind = TestStore.sqlite, name = "polystore_advice_\(UInt64.random(in: 0...(.max)))"
        let stack = try Self.stack(kind.make(named: name))
        defer { try? kind.make(named: name).erase() }
        _ = try stack.fetchAll(people("city == \"city 1\""))
        func error(_ copy: any StorageInterface) -> StorageError? {
            do { _ = try stack.adviseIndexes { _ in copy } } catch { return error as? StorageError }
            return nil
        }
        #expect(error(kind.make(named: name))?.code == .alreadyExists)
        #expect(error(InMemoryStore())?.message.hasSuffix("of the kind memory") == true)
        try stack.removeStorage(stack.storages[0])
        // Nothing of it was migrated.
        try DataStack(schema: Self.schema()).addStorageAndWait(kind.make(named: name))
    }

    @Test(arguments: TestStore.all) func indexesAreTriedInACopy(_ kind: TestStore) throws {
        let stack = try Self.stack(kind.make(), count: 500, [Index(["name"])])
        for city in 0..<5 {
            _ = try stack.fetchAll(people("city == \"city \(city)\" AND age >= 30", order: ["age"], limit: 5))
        }
        _ = try stack.fetchCount(people("email == \"7@example.com\""))
        let copy = kind.make(), advice = try stack.adviseIndexes { _ in copy }
        // Whether it is faster depends on the machine.
        let tried = advice.proposals + advice.rejected
        #expect(properties(tried) == [["city", "age"]])
        #expect(tried.first?.declaration == #"Person: Index(["city", "age"])"#)
        let request = try #require(tried.first?.requests.first)
        #expect(request.count == 5 && request.trial != nil)
        #expect(request.shape == "Person where (city == ?) AND (age >= ?) order by age limit 5")
        // Nothing is looked up by name, and the unique constraint serves the count.
        #expect(properties(advice.unused) == [["name"]])
        for store in stack.storages { try store.erase() }
        try copy.erase()
    }

    /// The index that saves nothing is not in the copy while the next one is tried.
    @Test(arguments: TestStore.all) func onlyIndexesThatHelpAreProposed(_ kind: TestStore) throws {
        let schema = try Self.schema(), copy = try OpenStore(opening: kind.make(), OpenRequest(schema: schema))
        let requests = try ["age > 1", "city == \"a\"", "name == \"b\""].map {
            AdvisedRequest(ObjectRequest("Person", where: try QueryPredicate(parsing: $0)), shape: $0)
        }
        var measured: [[[String]]] = []
        let advisor = try IndexAdvisor(
            requests, schema,
            measure: { plan, store in
                let indexes = store.schema.entities[0].indexes.map(\.properties)
                measured.append(indexes)
                let slot = IndexCandidate.all(for: plan, in: schema)[0].slots[0], name = store.schema[0].slots[slot].name
                return indexes.contains([name]) && name != "age" ? .milliseconds(1) : .milliseconds(3)
            })
        let advice = try advisor.advice(tryingIn: copy)
        #expect(properties(advice.proposals) == [["city"], ["name"]] && properties(advice.rejected) == [["age"]])
        #expect(measured == [[], [["age"]], [], [["city"]], [["city"]], [["city"], ["name"]]])
        let trial = advice.proposals[0].requests[0].trial
        #expect(trial?.before == .milliseconds(3) && trial?.after == .milliseconds(1))
        try copy.erase()
    }

    /// The index is tried once, and each of its requests is measured.
    @Test func everyRequestThatATriedIndexHelpsIsListed() throws {
        let schema = try Self.schema()
        func advice(_ conditions: (String, Int)...) throws -> IndexAdvice {
            let copy = try OpenStore(opening: InMemoryStore(), OpenRequest(schema: schema))
            let requests = try conditions.map { condition, seconds in
                AdvisedRequest(
                    ObjectRequest("Person", where: try QueryPredicate(parsing: condition)), shape: condition, duration: .seconds(seconds))
            }
            return try IndexAdvisor(
                requests, schema,
                measure: { plan, store in
                    let slot = IndexCandidate.all(for: plan, in: schema)[0].slots[0], name = store.schema[0].slots[slot].name
                    let isHelped = store.schema.entities[0].indexes.contains { $0.properties.first == name }
                    return .milliseconds(isHelped ? 1 : 3)
                }
            ).advice(tryingIn: copy)
        }
        let value = "city == \"a\"", range = "city > \"b\"", both = "city == \"a\" AND age == 1", other = "name == \"a\""
        func shapes(_ item: IndexAdvice.Item?) -> [String] { item?.requests.map(\.shape) ?? [] }
        for pair in [((value, 3), (range, 2)), ((value, 2), (range, 3))] {
            let same = try advice(pair.0, pair.1)
            #expect(properties(same.proposals) == [["city"]] && same.rejected.isEmpty)
            #expect(shapes(same.proposals.first).sorted() == [value, range])
        }
        // The requests of an index with fewer slots count as well: 9 seconds are more than 5.
        let longer = try advice((other, 5), (both, 4), (value, 3), (range, 2))
        #expect(properties(longer.proposals) == [["city", "age"], ["name"]])
        #expect(shapes(longer.proposals.first) == [both, value, range])
        let trials = longer.proposals.first?.requests.map(\.trial) ?? []
        #expect(trials.allSatisfy { $0?.before == .milliseconds(3) && $0?.after == .milliseconds(1) })
    }

    @Test func whatAnIndexCouldServeIsDerivedFromConditionAndOrder() throws {
        func proposed(_ indexes: [Index] = [], _ requests: From<DynamicObject>...) throws -> [[String]] {
            let stack = try Self.stack(InMemoryStore(), count: 0, indexes)
            for request in requests { _ = try stack.fetchAll(request) }
            return properties(try stack.adviseIndexes().proposals)
        }
        #expect(try proposed([], people("city == \"a\"")) == [["city"]])
        #expect(try proposed([], people("city == \"a\" AND name == \"b\"")) == [["name", "city"]])
        #expect(try proposed([], people("city IN {\"a\", \"b\"}", order: ["age", "name"])) == [["city", "age", "name"]])
        #expect(try proposed([], people("name BEGINSWITH \"a\"")) == [["name"]])
        #expect(try proposed([], people("age > 5 AND city == \"a\"")) == [["city", "age"]])
        // An order alone is worth an index if few objects are read.
        #expect(try proposed([], people(order: ["age"])) == [])
        #expect(try proposed([], people(order: ["age"], limit: 3)) == [["age"]])
        // The range or the order, but not both, unless they are about the same property.
        #expect(try proposed([], people("age > 5", order: ["name"], limit: 3)) == [["age"], ["name"]])
        #expect(try proposed([], people("age > 5", order: ["age", "name"], limit: 3)) == [["age", "name"]])
        #expect(try proposed([], people("city == \"a\" OR name == \"b\"")) == [])
        #expect(try proposed([], people("name CONTAINS \"a\" AND city != \"b\"")) == [])
        // One index serves requests that need a part of it.
        #expect(
            try proposed([], people("city == \"a\""), people("city == \"a\"", order: ["age"]), people("name == \"a\"")) == [
                ["city", "age"], ["name"],
            ])
        // Declared indexes, in whatever order of what is compared with a value, and unique constraints.
        #expect(try proposed([Index(["name", "city", "age"])], people("city == \"a\" AND name == \"b\"")) == [])
        #expect(try proposed([Index(["age", "city"])], people("city == \"a\"", order: ["age"])) == [["city", "age"]])
        #expect(try proposed([Index(["city"], where: "age > 3")], people("city == \"a\"")) == [["city"]])
        #expect(try proposed([], people("email == \"a\"")) == [])
    }

    @Test func indexesOfParentsServeRequestsForChildren() throws {
        let stack = try Self.stack(InMemoryStore(), count: 0, [Index(["city"])])
        _ = try stack.fetchAll(From<DynamicObject>(entity: "Child").where(Where(try QueryPredicate(parsing: "city == \"a\""))))
        _ = try stack.fetchAll(From<DynamicObject>(entity: "Child").where(Where(try QueryPredicate(parsing: "school == \"a\""))))
        let advice = try stack.adviseIndexes()
        #expect(advice.proposals.map { $0.declaration } == [#"Child: Index(["school"])"#])
        #expect(advice.unused.isEmpty)
    }

    // MARK: Statistics

    @Test func statisticsAreKeptByForm() throws {
        let stack = try Self.stack(InMemoryStore(), count: 10)
        for city in ["city 1", "city 2", "nowhere"] { _ = try stack.fetchAll(people("city == \"\(city)\"")) }
        _ = try stack.fetchCount(people("city == \"city 1\""))
        #expect(throws: StorageError.self) { _ = try stack.fetchAll(From<DynamicObject>(entity: "Nobody")) }
        let all = stack.requestStatistics()
        let fetch = try #require(all.first { $0.kind == .fetch && $0.entity == "Person" })
        #expect(fetch.shape == "Person where city == ?" && fetch.count == 3 && fetch.rows == 2 && fetch.failures == 0)
        #expect(fetch.longest <= fetch.duration && fetch.description.hasPrefix("fetch Person where city == ?: 3 requests, 2 rows in "))
        #expect(all.filter { $0.kind == .count }.map { $0.count } == [1])
        #expect(all.reduce(0) { $0 + $1.failures } == 1)
        stack.recordsRequests = false
        _ = try stack.fetchAll(people())
        #expect(stack.requestStatistics().count == all.count)
        stack.clearRequestStatistics()
        #expect(stack.requestStatistics().isEmpty)
    }

    @Test func theFormsAreBounded() throws {
        let stack = try Self.stack(InMemoryStore())
        for number in 0..<1_100 { _ = try stack.fetchAll(people(limit: number + 1)) }
        #expect(stack.requestStatistics().count == 1_000)
    }
}
