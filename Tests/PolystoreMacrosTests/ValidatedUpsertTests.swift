#if Macros
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
}
#endif
