import Foundation
import PolystoreCompatibility
import TestStores
import Testing

/// An entity with attributes of the types that a query returns as they are.
class Receipt: CoreStoreObject {
    enum State: String, QueryableAttributeType, CaseIterable { case open, paid }

    @Field.Stored("id", dynamicInitialValue: { UUID() }) var id: UUID
    @Field.Stored("at") var at: Date = Date(timeIntervalSince1970: 0)
    @Field.Stored("total") var total: Decimal = 0
    @Field.Stored("state") var state: State = .open
    @Field.Stored("number") var number: Int = 0
}

/// The types of the results of queries, and the order in which clauses apply.
@Suite struct QueryableTypesTests {
    private static let ids = (1...3).map { UUID(uuidString: "00000000-0000-0000-0000-00000000000\($0)") ?? UUID() }

    /// Three receipts: numbers 0 to 2, each a day later and 1.25 dearer than the one before; the last one is paid.
    private func stack(_ store: TestStore) throws -> DataStack {
        let stack = try DataStack(CoreStoreSchema(modelVersion: "Receipts", entities: [Entity<Receipt>("Receipt")]))
        try stack.addStorageAndWait(store.make())
        try stack.perform(synchronous: { transaction in
            for number in 0..<3 {
                let receipt = try transaction.create(Into<Receipt>())
                (receipt.number, receipt.id) = (number, Self.ids[number])
                receipt.at = Date(timeIntervalSince1970: Double(number) * 86_400)
                receipt.total = Decimal(number) * Decimal(string: "1.25", locale: nil)!
                receipt.state = number == 2 ? .paid : .open
            }
        })
        return stack
    }

    @Test(arguments: TestStore.all) func aQueryReturnsOneValueOfAnyType(_ store: TestStore) throws {
        let stack = try stack(store)
        let last = OrderBy<Receipt>(.descending("number"))
        #expect(try stack.queryValue(From<Receipt>(), Select<UUID>("id"), last) == Self.ids[2])
        #expect(try stack.queryValue(From<Receipt>(), Select<Date>(.maximum("at"))) == Date(timeIntervalSince1970: 172_800))
        #expect(try stack.queryValue(From<Receipt>(), Select<Decimal>(.sum("total"))) == Decimal(string: "3.75", locale: nil))
        #expect(try stack.queryValue(From<Receipt>(), Select<Receipt.State>("state"), last) == .paid)
        #expect(try stack.queryValue(From<Receipt>(), Select<Receipt.State>("state"), Where("number > 5")) == nil)
        // A value of another type is nil, as in CoreStore.
        #expect(try stack.queryValue(From<Receipt>(), Select<Receipt.State>("number")) == nil)
    }

    @Test(arguments: TestStore.all) func aQueryReturnsTuplesOfAnyTypes(_ store: TestStore) throws {
        let rows = try stack(store).queryTuples(
            From<Receipt>().orderBy(.ascending(\.number)).tuples(\.id, \.at, \.total, \.state))
        #expect(rows.map(\.0) == Self.ids)
        #expect(rows.map(\.1.timeIntervalSince1970) == [0, 86_400, 172_800])
        #expect(rows.map(\.2) == [0, 1.25, 2.5])
        #expect(rows.map(\.3) == [Receipt.State.open, .open, .paid])
    }

    @Test(arguments: TestStore.all) func clausesApplyInTheirOrderWhenTheRequestRuns(_ store: TestStore) throws {
        let stack = try stack(store)
        nonisolated(unsafe) var calls: [String] = []
        let first = Tweak<Receipt> { request in
            calls.append("first")
            request.fetchLimit = 1
        }
        let second = Tweak<Receipt> { request in
            calls.append("second")
            request.fetchLimit = 2
        }
        #expect(calls.isEmpty)
        let order = OrderBy<Receipt>(.descending("state")), then = OrderBy<Receipt>(.descending("number"))
        #expect(try stack.fetchAll(From<Receipt>(), order, then, first, second).map(\.number) == [2, 1])
        #expect(calls == ["first", "second"])
        #expect(try stack.fetchAll(From<Receipt>(), then, second, order, first).map(\.number) == [2])
        #expect(calls == ["first", "second", "second", "first"])
        #expect(try stack.fetchAll(From<Receipt>(), OrderBy(.ascending("state")), then, second).map(\.number) == [1, 0])
        #expect(try stack.fetchAll(From<Receipt>(), Where("number > 0"), second, Where("number < 2")).map(\.number) == [1])
    }
}
