#if Macros
import Foundation
import PolystoreMacros
import TestStores
import Testing

/// A coded type as an older version of the program has encoded it: without the currency of a line.
private struct TripBudget: CodedAttributeValue, Equatable {
    struct Line: Codable, Equatable {
        var amount = 0
        var currency: String? = "EUR"

        enum CodingKeys: CodingKey { case amount, currency }

        init(amount: Int, currency: String?) { (self.amount, self.currency) = (amount, currency) }

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            amount = try values.decode(Int.self, forKey: .amount)
            currency = try values.decode(String.self, forKey: .currency)
        }

        func encode(to encoder: any Encoder) throws {
            var values = encoder.container(keyedBy: CodingKeys.self)
            try values.encode(amount, forKey: .amount)
            try values.encodeIfPresent(currency, forKey: .currency)
        }
    }

    var lines: [Line] = []
    static var placeholder: TripBudget { TripBudget() }
}

/// A coder whose bytes are damaged.
private enum DamagingCoder: AttributeCoder {
    static var name: String { "damaging" }
    static func encode(_ value: some Encodable) throws -> Data { Data("{\"lines\"".utf8) }
    static func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        try JSONAttributeCoder.decode(type, from: data)
    }
}

private struct Damaged: CodedAttributeValue {
    typealias Coder = DamagingCoder
    var lines: [Int] = []
    static var placeholder: Damaged { Damaged() }
}

@Model private final class Voyage: ManagedObject {
    var name: String = ""
    var budget: TripBudget = TripBudget()
    var notes: Damaged?
}

@Suite struct CodedTypeTests {
    private func stack(_ kind: TestStore, _ fill: @escaping (Voyage) -> Void) throws -> DataStack {
        let stack = try DataStack(Voyage.self)
        try stack.addStorageAndWait(kind.make())
        try stack.perform(synchronous: { fill(try $0.create(Voyage.self)) })
        return stack
    }

    @Test(arguments: TestStore.all) func aValueThatDoesNotFitItsTypeIsNotDamaged(_ kind: TestStore) throws {
        let stack = try stack(kind) { $0.budget.lines = [.init(amount: 1, currency: "EUR"), .init(amount: 712, currency: nil)] }
        let error = #expect(throws: StorageError.self) { try stack.fetchAll(From<Voyage>()) }
        #expect(error?.code == .schemaMismatch && error?.cause is DecodingError)
        #expect(error?.details.entity == "Voyage" && error?.details.property == "budget" && error?.details.keys == [1])
        let message = error?.message ?? ""
        #expect(message.contains("Voyage.budget") && message.contains("it has no lines[1].currency") && message.contains("decodeIfPresent"))
        #expect(!message.contains("712"))
    }

    @Test(arguments: TestStore.all) func bytesThatACoderCannotReadAreDamaged(_ kind: TestStore) throws {
        let stack = try stack(kind) { $0.notes = Damaged() }
        let error = #expect(throws: StorageError.self) { try stack.fetchAll(From<Voyage>()) }
        #expect(error?.code == .corrupted && error?.details.property == "notes")
    }

    @Test(arguments: TestStore.all) func aValueThatCannotBeDecodedIsNotReplacedByTheNextCommit(_ kind: TestStore) throws {
        let stack = try stack(kind) { $0.budget.lines = [.init(amount: 700, currency: nil)] }
        let transaction = stack.beginUnsafe()
        let voyage = try #require(try transaction.fetchOne(From<Voyage>().properties(\.name)))
        voyage.budget.lines.append(.init(amount: 1, currency: "EUR"))
        for _ in 1...2 {
            let error = #expect(throws: StorageError.self) { try transaction.commit() }
            #expect(error?.code == .schemaMismatch)
        }
        let error = #expect(throws: StorageError.self) { try stack.fetchAll(From<Voyage>()) }
        #expect(error?.code == .schemaMismatch)
    }
}
#endif
