import Foundation
import Polystore
import PolystoreInMemory
import PolystoreSQLite
import PolystoreStorage
import PolystoreTransfer
import TestStores
import Testing

/// Requests that use indexes in less direct ways, and places in which none are tried.
@Suite struct IndexAdviceCaseTests {
    /// People who live in cities and belong to teams.
    private static func schema(_ indexes: [Index] = [], cities: [Index] = [], children: [Index] = []) throws -> Schema {
        try Schema(entities: [
            Entity(
                "Person",
                attributes: [
                    Attribute("name", .string), Attribute("city", .string), Attribute("age", .int64), Attribute("height", .int64),
                    Attribute("email", .string), Attribute("tags", .data, isOptional: true, coder: "json"),
                ], relationships: [Relationship("home", to: "City", inverse: "people")], indexes: indexes,
                uniqueConstraints: [UniqueConstraint(["email"])]),
            Entity("Child", parent: "Person", attributes: [Attribute("school", .string)], indexes: children),
            Entity(
                "City", attributes: [Attribute("zip", .int64), Attribute("title", .string)],
                relationships: [Relationship("people", to: "Person", .toMany, inverse: "home")], indexes: cities),
        ])
    }

    private func from(_ entity: String = "Person", _ condition: String? = nil, order: [String] = [], limit: Int? = nil) throws
        -> From<DynamicObject>
    {
        var from = From<DynamicObject>(entity: entity).orderBy(OrderBy(terms: order.map { OrderTerm(PropertyPath($0)) }))
        if let condition { from = from.where(Where(try QueryPredicate(parsing: condition))) }
        if let limit { from = from.limit(limit) }
        return from
    }

    private func values(
        _ from: From<DynamicObject>, _ outputs: QueryOutput..., by keys: [String] = [], isDistinct: Bool = false
    ) -> AttributesQuery<DynamicObject> {
        let keys = keys.map { PropertyPath($0) }
        return AttributesQuery(from, QueryRequest(ObjectRequest("Person"), outputs: outputs, groupBy: keys, isDistinct: isDistinct))
    }

    private func property(_ name: String) -> QueryOutput { QueryOutput(.path(PropertyPath(name))) }

    /// The advice after requests to an empty stack.
    private func advice(_ schema: Schema, _ work: (DataStack) throws -> Void) throws -> IndexAdvice {
        let stack = try DataStack(schema: schema)
        try stack.addStorageAndWait(InMemoryStore())
        stack.recordsRequests = true
        try work(stack)
        return try stack.adviseIndexes()
    }

    private func declarations(_ items: [IndexAdvice.Item]) -> [String] { items.map(\.declaration) }

    private let byCity = #"Person: Index(["city"])"#

    // MARK: Requests

    @Test func aRequestThatFailedIsNotConsidered() throws {
        let found = try advice(Self.schema()) { stack in
            #expect(throws: StorageError.self) { _ = try stack.fetchAll(from("Person", "nonsense == 1")) }
            #expect(throws: StorageError.self) { _ = try stack.fetchAll(from("Nobody", "nonsense == 1")) }
            _ = try stack.fetchAll(from("Person", "city == \"a\""))
        }
        #expect(declarations(found.proposals) == [byCity])
    }

    @Test func orderAndLimitOfGroupsAreNotThoseOfObjects() throws {
        let number = QueryOutput(.aggregate(Aggregate(.count)), as: "number")
        let grouped = try advice(Self.schema()) { stack in
            _ = try stack.queryAttributes(values(from(order: ["number"]), number, by: ["city"]))
            _ = try stack.queryAttributes(values(from(order: ["city"], limit: 3), number, property("city"), by: ["city"]))
            _ = try stack.queryAttributes(values(from(order: ["age"], limit: 3), property("age"), isDistinct: true))
        }
        #expect(grouped.proposals.isEmpty)
        // Each object is a row, so that the order and the limit are those of objects.
        let rows = try advice(Self.schema()) { _ = try $0.queryAttributes(values(from(order: ["age"], limit: 3), property("name"))) }
        #expect(declarations(rows.proposals) == [#"Person: Index(["age"])"#])
        // All objects are counted.
        let count = try advice(Self.schema()) { _ = try $0.fetchCount(from(order: ["age"], limit: 3)) }
        #expect(count.proposals.isEmpty)
    }

    @Test func anIndexIsUsedWhereverItsFirstPropertyOccurs() throws {
        let schema = try Self.schema(
            ["name", "city", "age", "height"].map { Index([$0]) } + [Index(["home", "name"])], cities: [Index(["zip"]), Index(["title"])],
            children: [Index(["school"])]
        )
        func unused(_ work: (DataStack) throws -> Void) throws -> [String] {
            try advice(schema) { stack in
                // The names of all entities that have indexes are known.
                _ = try stack.fetchAll(from("City"))
                try work(stack)
            }.unused.map { "\($0.entity).\($0.properties[0])" }.sorted()
        }
        let all = ["City.title", "City.zip", "Person.age", "Person.city", "Person.height", "Person.home", "Person.name"]
        func except(_ used: String...) -> [String] { all.filter { !used.contains($0) } }
        #expect(try unused { _ = try $0.fetchAll(from()) } == all)
        #expect(
            try unused { _ = try $0.fetchAll(from("Person", "city == \"a\" OR name == \"b\"")) } == except("Person.city", "Person.name"))
        #expect(try unused { _ = try $0.fetchAll(from("Person", "NOT (city == \"a\")")) } == except("Person.city"))
        #expect(try unused { _ = try $0.fetchAll(from("Person", "home.zip == 5")) } == except("City.zip", "Person.home"))
        #expect(try unused { _ = try $0.fetchAll(from("Person", "age > 5 AND height < 3")) } == except("Person.age", "Person.height"))
        #expect(
            try unused {
                _ = try $0.fetchAll(from())
                _ = try $0.fetchAll(from("City", "ANY people.age > 5"))
            } == except("Person.age", "Person.home"))
        #expect(
            try unused { _ = try $0.fetchAll(from(order: ["age", "home.title"])) } == except("Person.age", "City.title", "Person.home"))
        #expect(
            try unused {
                _ = try $0.queryAttributes(
                    values(from(), QueryOutput(.aggregate(Aggregate(.maximum, PropertyPath("age"))), as: "most"), by: ["city"]))
            } == except("Person.age", "Person.city"))
        #expect(try unused { _ = try $0.queryAttributes(values(from(), property("name"), isDistinct: true)) } == except("Person.name"))
        // An index of a descendant is not used by requests in which its property does not occur.
        #expect(try unused { _ = try $0.fetchAll(from("Child", "age == 1")) } == (except("Person.age") + ["Child.school"]).sorted())
    }

    @Test func whatHasAnIndexAlreadyIsNotProposed() throws {
        func proposed(_ schema: Schema? = nil, _ requests: From<DynamicObject>...) throws -> [String] {
            try declarations(
                advice(schema ?? Self.schema()) { stack in for request in requests { _ = try stack.fetchAll(request) } }.proposals)
        }
        #expect(try proposed(nil, from("Person", "home == NIL")) == [])
        #expect(try proposed(nil, from("Person", "home == NIL", order: ["age"])) == [#"Person: Index(["home", "age"])"#])
        // One object at most is found by the unique value.
        #expect(try proposed(nil, from("Person", "email == \"a\" AND city == \"b\"")) == [])
        #expect(try proposed(nil, from("Person", "email > \"a\" AND city == \"b\"")) == [#"Person: Index(["city", "email"])"#])
        #expect(try proposed(nil, from("Person", "city == \"a\""), from("Child", "city == \"a\"")) == [byCity])
        #expect(try proposed(nil, from("Child", "city == \"a\""), from("Person", "city == \"a\"")) == [byCity])
        #expect(
            try proposed(nil, from("Child", "city == \"a\""), from("Person", "city == \"a\"", order: ["age"]))
                == [#"Person: Index(["city", "age"])"#])
        #expect(try proposed(nil, from("Person", "tags == NIL AND city == \"a\"")) == [byCity])
        #expect(try proposed(nil, from("Person", "tags == NIL")) == [])
        #expect(try proposed(nil, from("Person", "city == \"a\"", limit: 0)) == [])
    }

    @Test func anIndexForTwoStoresIsProposedOnce() throws {
        let entities = try Self.schema([Index(["name"])]).entities
        let schema = try Schema(
            entities: entities, configurations: ["Left": ["Person", "Child", "City"], "Right": ["Person", "Child", "City"]])
        let stack = try DataStack(schema: schema)
        try stack.addStorageAndWait(InMemoryStore(configuration: "Left"))
        try stack.addStorageAndWait(InMemoryStore(configuration: "Right"))
        stack.recordsRequests = true
        _ = try stack.fetchAll(from("Person", "city == \"a\""))
        let found = try stack.adviseIndexes()
        #expect(declarations(found.proposals) == [byCity] && found.proposals.first?.requests.count == 1)
        #expect(declarations(found.unused) == [#"Person: Index(["name"])"#])
    }

    // MARK: Statistics

    @Test func largeConditionsAreNotKeptWhole() throws {
        let stack = try DataStack(schema: Self.schema([Index(["name"])]))
        try stack.addStorageAndWait(InMemoryStore())
        stack.recordsRequests = true
        let many = QueryPredicate.isIn(.path(PropertyPath("city")), (0..<20_000).map { .string("city \($0)") })
        _ = try stack.fetchAll(From<DynamicObject>(entity: "Person").where(Where(many)))
        let kept = try #require(stack.requestStatistics().first?.slowest)
        guard case .isIn(_, let values)? = kept.fetch.predicate?.node else { throw StorageError(.corrupted, "\(kept)") }
        #expect(values.count == 100)
        let found = try stack.adviseIndexes()
        #expect(declarations(found.proposals) == [byCity] && declarations(found.unused) == [#"Person: Index(["name"])"#])
        let long = QueryPredicate.compare(.path(PropertyPath("name")), .equal, .value(.string(String(repeating: "a", count: 100_000))))
        _ = try stack.fetchAll(From<DynamicObject>(entity: "Person").where(Where(long)))
        #expect(stack.requestStatistics().filter { $0.slowest == nil }.map { $0.shape } == ["Person where name == ?"])
        // The index by name is used, which is not known any more.
        #expect(try stack.adviseIndexes().unused.isEmpty)
        let wide = QueryPredicate.or((0..<5_000).map { .compare(.path(PropertyPath("age")), .equal, .value(.int(Int64($0)))) })
        _ = try stack.fetchAll(From<DynamicObject>(entity: "Person").where(Where(wide)))
        #expect(stack.requestStatistics().allSatisfy { $0.shape.utf8.count <= 10_003 })
    }

    // MARK: Copies

    @Test(arguments: TestStore.all.filter { $0 != .memory }) func nothingIsTriedInAStoreThatExisted(_ kind: TestStore) throws {
        let name = "polystore_\(UUID().uuidString.lowercased())", other = "polystore_\(UUID().uuidString.lowercased())"
        let stack = try DataStack(schema: Self.schema())
        try stack.addStorageAndWait(kind.make(named: name))
        stack.recordsRequests = true
        _ = try stack.fetchAll(from("Person", "city == \"a\""))
        // The store of the program, another one without objects, and one in which indexes were tried.
        try OpenStore(opening: kind.make(named: other), OpenRequest(schema: Self.schema())).close()
        let tried = "polystore_\(UUID().uuidString.lowercased())", indexed = try Self.schema([Index(["city"])])
        try OpenStore(opening: kind.make(named: tried), OpenRequest(schema: indexed)).close()
        for place in [name, other, tried] {
            let error = #expect(throws: StorageError.self) { try stack.adviseIndexes { _ in kind.make(named: place) } }
            #expect(error?.code == .alreadyExists, "\(error?.message ?? "")")
            #expect(error?.message.hasPrefix("indexes are not tried in a store that existed before") == true)
        }
        _ = try stack.fetchAll(from("Person", "city == \"a\""))
        for store in stack.storages { try store.close() }
        for (place, schema) in [(name, try Self.schema()), (other, try Self.schema()), (tried, indexed)] {
            let store = try OpenStore(opening: kind.make(named: place), OpenRequest(schema: nil))
            #expect(store.schema == schema)
            try store.erase()
        }
    }

    @Test func nothingIsTriedInAStoreOfAnotherKind() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("polystore_\(UUID().uuidString).db").path
        let stack = try DataStack(schema: Self.schema())
        try stack.addStorageAndWait(InMemoryStore())
        stack.recordsRequests = true
        _ = try stack.fetchAll(from("Person", "city == \"a\""))
        let error = #expect(throws: StorageError.self) { try stack.adviseIndexes { _ in SQLiteStore(path: path) } }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.message.contains("memory") == true && error?.message.contains("sqlite") == true)
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test(arguments: TestStore.all) func aStoreWithJointCommitsIsCopied(_ kind: TestStore) throws {
        let store = try OpenStore(opening: kind.make(), OpenRequest(schema: Self.schema()))
        let writer = try store.beginWrite(WriteOptions())
        try Peers.add(UUID(), writer)
        _ = try writer.commit(CommitRecord())
        writer.end()
        let copy = kind.make(),
            request = AdvisedRequest(ObjectRequest("Person", where: try QueryPredicate(parsing: "city == \"a\"")), shape: "")
        let found = try TransferEngine().adviseIndexes(for: [request], of: store, tryingIn: copy)
        #expect(declarations(found.proposals + found.rejected) == [byCity])
        try copy.erase()
        try store.erase()
    }

    /// Each trial would read the records of all earlier ones.
    @Test(arguments: TestStore.all) func trialsLeaveNoRecordsOfMigrations(_ kind: TestStore) throws {
        let schema = try Self.schema(), copy = try OpenStore(opening: kind.make(), OpenRequest(schema: schema))
        let requests = try ["city == \"a\"", "age == 1", "height == 1"].map {
            AdvisedRequest(ObjectRequest("Person", where: try QueryPredicate(parsing: $0)), shape: $0)
        }
        let found = try IndexAdvisor(requests, schema, measure: { _, _ in .milliseconds(1) }).advice(tryingIn: copy)
        #expect(found.rejected.count == 3)
        let reader = try copy.beginRead()
        #expect(try MigrationRecord.all(reader).isEmpty)
        reader.end()
        try copy.erase()
    }
}
