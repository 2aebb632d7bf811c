#if Macros
import Foundation
import Polystore
import PolystoreMacros
import TestStores
import Testing

@Model final class Interval: ManagedObject, ValidatableObject, SaveAwareObject {
    @Attribute(.unique) var number: Int = 0
    var low: Int = 0
    var high: Int = 100

    func willSave() { if high == 60 { high = 61 } }

    func validate() throws { if high < low { throw ValidationFailure("high", "must not be below low") } }
}

/// Upserts of objects whose classes have rules of their own.
@Suite struct ValidatedUpsertTests {
    /// The rule concerns an attribute that the upsert does not assign.
    @Test(arguments: TestStore.all) func anUpdatedObjectIsValidated(_ kind: TestStore) throws {
        let stack = try DataStack(Interval.self)
        try stack.addStorageAndWait(kind.make())
        defer { for storage in stack.storages { try? storage.erase() } }
        try stack.perform(synchronous: { transaction in
            let interval = try transaction.create(Interval.self)
            (interval.number, interval.low) = (1, 50)
        })
        func upsert(_ high: Int) throws {
            try stack.perform(synchronous: { transaction in
                _ = try transaction.upsertAll(Into<Interval>(), on: \.number, sources: [1, 2]) { interval, number in
                    (interval.number, interval.high) = (number, high)
                }
            })
        }
        let error = #expect(throws: StorageError.self) { try upsert(10) }
        #expect(error?.code == .validationFailed && error?.details.property == "high")
        #expect(try stack.fetchAll(From<Interval>()).map(\.high) == [100])
        // An upsert does not call willSave.
        try upsert(60)
        #expect(try stack.fetchAll(From<Interval>()).map(\.high) == [60, 60])
    }

    /// The object has violated the rule since before the class had it, and an upsert that is undone does not change that.
    @Test(arguments: TestStore.all.filter { $0 != .memory }) func anUpsertThatIsUndoneLeavesNothingToValidate(_ kind: TestStore) throws {
        struct Refusal: Error {}
        let name = "polystore_\(UUID().uuidString.lowercased())", plain = try DataStack(schema: DataStack(Interval.self).schema)
        try plain.addStorageAndWait(kind.make(named: name))
        try plain.perform(synchronous: { transaction in
            let interval = try transaction.create(Into<DynamicObject>(entity: "Interval"))
            for (name, value) in [("number", 1), ("low", 50), ("high", 10)] { try interval.setValue(.int(Int64(value)), for: name) }
        })
        for storage in plain.storages { try storage.close() }
        let stack = try DataStack(Interval.self)
        try stack.addStorageAndWait(kind.make(named: name))
        defer { for storage in stack.storages { try? storage.erase() } }
        func upsert(_ failure: (any Error)?) throws {
            try stack.perform(synchronous: { transaction in
                do {
                    try transaction.nested {
                        try transaction.upsertAll(Into<Interval>(), on: \.number, sources: [1]) { interval, number in
                            (interval.number, interval.high) = (number, 20)
                        }
                        if let failure { throw failure }
                    }
                } catch is Refusal {}
                try transaction.create(Interval.self).number = 2
            })
        }
        #expect(throws: StorageError.self) { try upsert(nil) }
        try upsert(Refusal())
        #expect(try stack.fetchAll(From<Interval>().orderBy(.ascending(\.number))).map(\.high) == [10, 100])
    }
}
#endif
