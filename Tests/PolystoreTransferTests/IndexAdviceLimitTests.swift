import Foundation
import Polystore
import PolystoreStorage
import PolystoreTransfer
import TestStores
import Testing

/// Indexes that a store could not have, has already under the name of another entity, or would hardly use.
@Suite struct IndexAdviceLimitTests {
    /// People, some of them children, with many numbers.
    private static func schema(children: [Index] = [], configurations: [String: [String]] = [:]) throws -> Schema {
        try Schema(
            entities: [
                Entity(
                    "Person",
                    attributes: [("name", .string), ("city", .string), ("photo", .data), ("age", .int64), (longName, .int64)].map(optional)
                        + (0..<40).map { optional("n\($0)", .int64) }),
                Entity("Child", parent: "Person", attributes: [optional("school", .string)], indexes: children),
                Entity("Adult", parent: "Person"),
            ], configurations: configurations)
    }

    private static let longName = "aRatherLongNameOfAnAttributeOfPeople"

    private static func optional(_ name: String, _ type: ValueType) -> Attribute { Attribute(name, type, isOptional: true) }

    /// A text that engines cannot compress.
    private static func noise(_ count: Int) -> String {
        var generator = SystemRandomNumberGenerator()
        return String((0..<count).map { _ in Character(Unicode.Scalar(UInt8.random(in: 33...126, using: &generator))) })
    }

    private static func stack(_ store: any StorageInterface, _ schema: Schema, _ values: [String: Value] = [:]) throws -> DataStack {
        let stack = try DataStack(schema: schema)
        try stack.addStorageAndWait(store)
        try stack.perform(synchronous: { transaction in
            for number in 0..<20 {
                let child = try transaction.create(Into<DynamicObject>(entity: "Child"))
                for (name, value) in values where number == 0 { try child.setValue(value, for: name) }
            }
        })
        stack.recordsRequests = true
        return stack
    }

    private func from(_ condition: String? = nil, of entity: String = "Person", order: [String] = []) throws -> From<DynamicObject> {
        let from = From<DynamicObject>(entity: entity).orderBy(OrderBy(terms: order.map { OrderTerm(PropertyPath($0)) }))
        guard let condition else { return from }
        return from.where(Where(try QueryPredicate(parsing: condition)))
    }

    private func declarations(_ items: [IndexAdvice.Item]) -> [String] { items.map(\.declaration) }

    private let byCity = #"Person: Index(["city"])"#

    /// The advice without a trial, and what was tried.
    private func advice(_ stack: DataStack, _ kind: TestStore) throws -> (untried: [String], tried: IndexAdvice) {
        let copy = kind.make(), tried = try stack.adviseIndexes { _ in copy }
        try copy.erase()
        return (declarations(try stack.adviseIndexes().proposals), tried)
    }

    @Test(arguments: TestStore.all) func noIndexIsProposedForValuesThatAreTooLongForIt(_ kind: TestStore) throws {
        let values: [String: Value] = [
            "name": .string(Self.noise(1_025)), "photo": .data(Data(repeating: 1, count: 1_025)), "city": .string(Self.noise(1_024)),
        ]
        let stack = try Self.stack(kind.make(), Self.schema(), values)
        _ = try stack.fetchAll(from("name == 'a'"))
        _ = try stack.fetchAll(from("name == 'a' AND city == 'a'"))
        _ = try stack.fetchAll(from("photo != NIL", order: ["photo"]).limit(3))
        _ = try stack.fetchAll(from("city == 'a'"))
        let found = try advice(stack, kind)
        #expect(found.untried == [byCity])
        #expect(declarations(found.tried.proposals + found.tried.rejected) == [byCity])
        for store in stack.storages { try store.erase() }
    }

    /// Each value is short enough, but an entry of PostgreSQL's indexes cannot hold all of them.
    @Test(arguments: TestStore.all) func anIndexThatCannotBeMadeEndsNoTrial(_ kind: TestStore) throws {
        let values = Dictionary(uniqueKeysWithValues: ["name", "city", "school"].map { ($0, Value.string(Self.noise(1_020))) })
        let stack = try Self.stack(kind.make(), Self.schema(), values)
        _ = try stack.fetchAll(from("name == 'a' AND city == 'a' AND school == 'a'", of: "Child"))
        _ = try stack.fetchAll(from("age == 7"))
        let tried = try advice(stack, kind).tried, all = declarations(tried.proposals + tried.rejected).sorted()
        let byAge = #"Person: Index(["age"])"#, byTexts = #"Child: Index(["name", "city", "school"])"#
        #expect(all == (kind == .postgresql ? [byAge] : [byTexts, byAge]))
        for store in stack.storages { try store.erase() }
    }

    @Test(arguments: TestStore.all) func anIndexHasAtMost16Properties(_ kind: TestStore) throws {
        let stack = try Self.stack(kind.make(), Self.schema())
        let numbers = (0..<40).map { "n\($0)" }
        _ = try stack.fetchAll(from(numbers.map { "\($0) == 1" }.joined(separator: " AND "), order: ["age"]))
        _ = try stack.fetchAll(from("city == 'a'", order: numbers))
        let tried = try advice(stack, kind).tried, all = tried.proposals + tried.rejected
        let wanted = [["city"] + numbers.prefix(15), Array(numbers.prefix(16))]
        #expect(Set(all.map(\.properties)) == Set(wanted))
        for store in stack.storages { try store.erase() }
    }

    /// The child of the age 0 divides by zero.
    @Test(arguments: TestStore.all) func aRequestThatFailsInTheCopyEndsNoTrial(_ kind: TestStore) throws {
        let stack = try Self.stack(kind.make(), Self.schema(), ["age": .int(0)])
        let store = try #require(stack.core.entries.first?.entry.store), copy = kind.make()
        let requests = try ["age == 0 AND 10 / age == 1", "n1 == 1"].map {
            AdvisedRequest(ObjectRequest("Person", where: try QueryPredicate(parsing: $0)), shape: $0)
        }
        let found = try TransferEngine().adviseIndexes(for: requests, of: store, tryingIn: copy)
        #expect(declarations(found.proposals + found.rejected) == [#"Person: Index(["n1"])"#])
        try copy.erase()
        try store.erase()
    }

    /// Stores with SQL have one table for all people, and each index contains all of them.
    @Test(arguments: TestStore.all) func anIndexOfADescendantMayContainAllObjects(_ kind: TestStore) throws {
        let stack = try Self.stack(kind.make(), Self.schema(children: [Index(["city"]), Index(["school"])]))
        let isShared = stack.storages.allSatisfy { $0.capabilities.contains(.rawSQL) }
        func proposed(_ requests: From<DynamicObject>...) throws -> [String] {
            stack.clearRequestStatistics()
            for request in requests { _ = try stack.fetchAll(request) }
            _ = try stack.fetchAll(from(of: "Child"))
            let found = try stack.adviseIndexes()
            #expect(declarations(found.unused) == [#"Child: Index(["school"])"#])
            return declarations(found.proposals)
        }
        #expect(try proposed(from("city == 'a'")) == (isShared ? [] : [byCity]))
        #expect(try proposed(from("city == 'a'", of: "Child")) == [])
        #expect(
            try proposed(from("city == 'a'", of: "Adult"), from("city == 'a'", of: "Child"))
                == (isShared ? [] : [#"Adult: Index(["city"])"#]))
        let ofAll = try proposed(
            from("age == 1", of: "Adult"), from("age == 1"), from("age == 1", of: "Child"), from("city == 'a'", of: "Child"))
        #expect(ofAll == [#"Person: Index(["age"])"#])
        for store in stack.storages { try store.erase() }
    }

    /// Both stores have the indexes of the schema.
    @Test func theValuesOfOneStoreMayForbidAnIndexOfAll() throws {
        let schema = try Self.schema(configurations: ["Left": ["Person", "Child", "Adult"], "Right": ["Person", "Child", "Adult"]])
        let stack = try DataStack(schema: schema)
        try stack.addStorageAndWait(TestStore.memory.make(configuration: "Left"))
        try stack.addStorageAndWait(TestStore.memory.make(configuration: "Right"))
        try stack.perform(synchronous: { transaction in
            let child = try transaction.create(Into<DynamicObject>(entity: "Child", "Right"))
            try child.setValue(.string(Self.noise(2_000)), for: "name")
        })
        stack.recordsRequests = true
        _ = try stack.fetchAll(from("name == 'a'"))
        _ = try stack.fetchAll(from("city == 'a'"))
        #expect(declarations(try stack.adviseIndexes().proposals) == [byCity])
    }

    @Test(arguments: TestStore.all) func theStoreOfTheStackIsNoCopy(_ kind: TestStore) throws {
        let stack = try Self.stack(kind.make(), Self.schema())
        _ = try stack.fetchAll(from("city == 'a'"))
        let error = #expect(throws: StorageError.self) { try stack.adviseIndexes { $0 } }
        #expect(error?.code == .alreadyExists)
        #expect(try stack.fetchCount(from()) == 20)
        for store in stack.storages { try store.erase() }
    }

    // MARK: Statistics

    @Test func aRequestThatTookTooLongIsConsidered() throws {
        let stack = try Self.stack(TestStore.memory.make(), Self.schema())
        let error = #expect(throws: StorageError.self) { try stack.fetchAll(from("city == 'a'"), timeout: .zero) }
        #expect(error?.code == .timeout && stack.requestStatistics().first?.failures == 1)
        #expect(declarations(try stack.adviseIndexes().proposals) == [byCity])
    }

    @Test func aPageIsLimited() throws {
        let stack = try Self.stack(TestStore.memory.make(), Self.schema())
        _ = try stack.fetchPage(from(order: ["city"]))
        #expect(declarations(try stack.adviseIndexes().proposals) == [byCity])
    }

    /// Forms of more than 10,000 bytes may differ only after them.
    @Test func noIndexIsUnusedIfAFormWasCut() throws {
        let stack = try Self.stack(TestStore.memory.make(), Self.schema(children: [Index(["school"])]))
        let long = (0..<250).map { "\(Self.longName) == \($0)" }.joined(separator: " OR ")
        _ = try stack.fetchAll(from("\(long) OR city == 'a'", of: "Child"))
        let kept = try #require(stack.requestStatistics().first)
        #expect(kept.shape.hasSuffix("…") && kept.slowest != nil)
        #expect(try stack.adviseIndexes().unused.isEmpty)
    }

    /// One of the discarded forms may have used the index.
    @Test func noIndexIsUnusedIfAFormWasDiscarded() throws {
        let stack = try Self.stack(TestStore.memory.make(), Self.schema(children: [Index(["school"])]))
        let child = try from("city == 'a'", of: "Child")
        _ = try stack.fetchAll(child)
        #expect(declarations(try stack.adviseIndexes().unused) == [#"Child: Index(["school"])"#])
        for number in 0..<1_000 { _ = try stack.fetchAll(from().limit(number + 1)) }
        #expect(try stack.adviseIndexes().unused.isEmpty)
        stack.clearRequestStatistics()
        _ = try stack.fetchAll(child)
        #expect(declarations(try stack.adviseIndexes().unused) == [#"Child: Index(["school"])"#])
    }
}
