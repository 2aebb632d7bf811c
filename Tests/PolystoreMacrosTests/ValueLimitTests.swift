#if Macros
import Foundation
import PolystoreMacros
import TestStores
import Testing

@Model final class Reading: ManagedObject {
    var small: Int16 = 0
    var medium: Int32 = 0
    var isOn: Bool = false
    var weight: Float = 0
    var real: Double = 0
    var at: Date?
    var price: Decimal?
}

@Model final class Draft: ManagedObject {
    var plain: String = ""
    @Attribute(.indexed) var title: String = ""
    @Attribute(.indexed) var subtitle: String = ""
    var bytes: Data?
    @Attribute(.indexed) var digest: Data?
}

/// What no attribute of a type can hold is neither read as another value nor written by a batch.
@Suite struct ValueLimitTests {
    private func stack(_ store: TestStore) throws -> DataStack {
        let stack = try DataStack(Reading.self, Draft.self)
        try stack.addStorageAndWait(store.make())
        return stack
    }

    private func error(_ body: () throws -> Void) -> StorageError? {
        do { try body() } catch { return error as? StorageError }
        return nil
    }

    private static let facts: [(TestStore, String, String)] = [
        (.sqlite, "small", "32768"), (.sqlite, "small", "-32769"), (.sqlite, "medium", "2147483648"), (.sqlite, "isOn", "2"),
        (.sqlite, "weight", "1e39"), (.sqlite, "weight", "-1e300"), (.sqlite, "at", "9223372036854775807"),
        (.sqlite, "at", "-62135596800000001"), (.sqlite, "at", "253402300800000000"), (.sqlite, "price", "x'8200'"),
        (.sqlite, "price", "x'81FFFF0200'"),
        (.postgresql, "weight", "'NaN'"), (.postgresql, "real", "'NaN'"), (.postgresql, "at", "'infinity'"),
        (.postgresql, "at", "'-infinity'"), (.postgresql, "at", "'10000-01-01'"), (.postgresql, "at", "'0002-01-01 BC'"),
        (.postgresql, "price", "'NaN'"), (.postgresql, "price", "123456789012345678901234567890123456789"),
        (.postgresql, "price", "1e-200"), (.postgresql, "price", "1e1000"),
    ].filter { store, _, _ in TestStore.all.contains(store) }

    @Test(arguments: facts) func anIllFormedValueIsCorrupted(_ store: TestStore, _ property: String, _ value: String) throws {
        let stack = try stack(store)
        try stack.perform(synchronous: { _ = try $0.create(Reading.self) })
        let statement = RawSQL(stringLiteral: "UPDATE \"Reading\" SET \"\(property)\" = \(value)")
        try stack.perform(synchronous: { _ = try $0.execute(statement) })
        let read = error { _ = try stack.fetchAll(From<Reading>()) }
        #expect(read?.code == .corrupted)
        #expect(read?.details.entity == "Reading" && read?.details.property == property && read?.details.keys.count == 1)
        #expect(error { _ = try stack.queryAttributes(From<Reading>().select(Self.selected(property))) }?.code == .corrupted)
    }

    /// Numbers of two types are compared above a store, and what has no order satisfies neither a condition nor its negation.
    @Test(arguments: [("weight", "medium"), ("real", "medium"), ("price", "real")])
    func anIllFormedValueIsCorruptedInConditions(_ property: String, _ other: String) throws {
        guard TestStore.all.contains(.postgresql) else { return }
        let stack = try stack(.postgresql)
        try stack.perform(synchronous: { _ = try $0.create(Reading.self) })
        let statement = RawSQL(stringLiteral: "UPDATE \"Reading\" SET \"\(property)\" = 'NaN'")
        try stack.perform(synchronous: { _ = try $0.execute(statement) })
        for condition in ["\(property) == \(other)", "\(property) > \(other)", "NOT (\(property) > \(other))", "\(other) <= \(property)"] {
            let wanted = From<Reading>().where(Where<Reading>(format: condition))
            #expect(error { _ = try stack.fetchCount(wanted) }?.code == .corrupted, "\(condition)")
            #expect(error { _ = try stack.fetchAll(wanted) }?.code == .corrupted, "\(condition)")
        }
    }

    private static func selected(_ property: String) -> Select<Reading> {
        switch property {
        case "small": .attribute(\.small)
        case "medium": .maximum(\.medium)
        case "isOn": .attribute(\.isOn)
        case "weight": .maximum(\.weight)
        case "real": .sum(\.real)
        case "at": .minimum(\.at)
        default: .attribute(\.price)
        }
    }

    @Test(arguments: TestStore.all) func theEndsOfEachTypeAreRead(_ store: TestStore) throws {
        let stack = try stack(store)
        let first = Date(timeIntervalSince1970: -62_135_596_800), greatest = Decimal(string: "99999999999999999999999999999999999999e127")
        try stack.perform(synchronous: { transaction in
            let low = try transaction.create(Reading.self), high = try transaction.create(Reading.self)
            (low.small, low.medium, low.weight, low.at) = (.min, .min, -.greatestFiniteMagnitude, first)
            (high.small, high.medium, high.weight, high.isOn, high.price) = (.max, .max, .infinity, true, greatest)
        })
        let all = try stack.fetchAll(From<Reading>().orderBy(.ascending(\Reading.small)))
        #expect(all.map(\.small) == [.min, .max] && all.map(\.medium) == [.min, .max] && all.map(\.isOn) == [false, true])
        #expect(all.map(\.weight) == [-.greatestFiniteMagnitude, .infinity])
        #expect(all[0].at == first && all[1].price == greatest)
    }

    @Test(arguments: TestStore.all) func aBatchKeepsTheLimitsOfAnIndex(_ store: TestStore) throws {
        let stack = try stack(store)
        func update(_ assignments: Assignment<Draft>...) throws {
            try stack.perform(synchronous: { transaction in
                for assignment in assignments { try transaction.updateAll(From<Draft>(), assignment) }
            })
        }
        func fill(_ count: Int) throws {
            try update(
                .set(\.plain, to: String(repeating: "x", count: count)), .set(\.bytes, to: Data(repeating: 1, count: count)),
                .set(\.title, to: "t"), .set(\.digest, to: nil))
        }
        try stack.perform(synchronous: { for _ in 0..<3 { _ = try $0.create(Draft.self) } })
        try fill(1_025)
        #expect(error { try update(.set(\.title, to: \.plain)) }?.code == .valueTooLarge)
        #expect(error { try update(.set(\.digest, to: \.bytes)) }?.code == .valueTooLarge)
        #expect(try stack.fetchAll(From<Draft>()).map(\.title) == ["t", "t", "t"])
        try fill(1_024)
        try update(.set(\.title, to: \.plain), .set(\.subtitle, to: \.title), .set(\.digest, to: \.bytes))
        let both = ValueExpression<Draft, String>(.function(.concatenate, [.path("title"), .path("subtitle")]))
        #expect(error { try update(.set(\.title, to: both)) }?.code == .valueTooLarge)
        try update(.set(\.plain, to: both))
        let all = try stack.fetchAll(From<Draft>())
        #expect(all.map(\.subtitle.utf8.count) == [1_024, 1_024, 1_024] && all.map(\.plain.utf8.count) == [2_048, 2_048, 2_048])
        #expect(all.map { $0.digest?.count } == [1_024, 1_024, 1_024])
    }
}
#endif
