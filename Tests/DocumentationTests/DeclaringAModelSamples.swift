#if Macros
import Foundation
import Polystore
import PolystoreInMemory
import PolystoreMacros
import Testing

/// The samples of "Declaring a Model".
@Suite(.scratch) struct DeclaringAModelSamples {
    enum Size: Int, AttributeValue, CaseIterable, Codable { case small = 1, large = 2 }

    struct Handling: OptionSet, AttributeValue {
        let rawValue: Int
        static let fragile = Handling(rawValue: 1), cold = Handling(rawValue: 2)
    }

    struct Address: CodedAttributeValue {
        var street = "", city = ""
        static var placeholder: Address { Address() }
    }

    @Model final class Parcel: ManagedObject {
        @Attribute(.unique, .pattern("[A-Z]{2}[0-9]+")) var code: String
        @Attribute(.minLength(1), .maxLength(100)) var title: String = "parcel"
        @Attribute(.minimum(0), .maximum(30_000)) var grams: Int32 = 0
        @Attribute(.indexed) var sent: Date = .now
        var id: UUID = UUID()
        var price: Decimal = 0
        var ratio: Double?
        var isPaid = false
        var photo: Data?
        var link: URL?
        var size: Size = .small
        var handling: Handling = []
        var address: Address = Address()
        var tags: [String] = []
        @Attribute(.excludedFromHistory, key: "internal_note") var note: String?
        @Transient var isSelected: Bool = false
    }

    @Model final class Booking: ManagedObject, ValidatableObject, SaveAwareObject {
        var first: Int = 0
        var last: Int = 0
        var nights: Int = 0

        func willSave() { nights = last - first }
        func validate() throws {
            if last < first { throw ValidationFailure("last", "must not be before the first day") }
        }
    }

    @Model(abstract: true) class Animal: ManagedObject {
        var name: String = ""
    }

    @Model final class Dog: Animal {
        var breed: String?
    }

    private func stack() throws -> DataStack {
        let stack = try DataStack(Parcel.self, Booking.self, Animal.self, Dog.self)
        try stack.addStorageAndWait(InMemoryStore())
        return stack
    }

    @Test func datesHaveMicroseconds() throws {
        let stack = try stack()
        try stack.perform(synchronous: { transaction in
            let parcel = try transaction.create(Parcel.self)
            parcel.code = "LV1"
            let now = Date()
            parcel.sent = now
            print(abs(parcel.sent.timeIntervalSince(now)) < 0.000_001)  // true, while parcel.sent == now is usually false
            let assigned = parcel.sent
            parcel.sent = assigned
            #expect(parcel.sent == assigned)
        })
        #expect(printed == ["true"])
        let parcel = try #require(try stack.fetchOne(From<Parcel>()))
        let micros = parcel.sent.timeIntervalSince1970 * 1_000_000
        #expect(abs(micros - micros.rounded()) < 0.5)
        try stack.perform(synchronous: { transaction in
            let parcel = try transaction.edit(parcel), date = Date(timeIntervalSince1970: 0.123_456_789)
            parcel?.sent = date
            #expect(parcel?.sent != date && parcel?.sent == Date(timeIntervalSince1970: 0.123_457))
        })
    }

    @Test func failuresAreReportedTogether() async throws {
        let stack = try stack()
        do {
            try await stack.perform { transaction in
                let parcel = try transaction.create(Parcel.self)
                parcel.title = ""
                parcel.grams = -5
            }
        } catch {
            guard let error = error as? StorageError else { throw error }
            print(error.details.failures.compactMap(\.property).sorted())  // ["code", "grams", "title"]
        }
        #expect(printed == [#"["code", "grams", "title"]"#])
    }

    @Test func valuesAreStored() throws {
        let stack = try stack()
        try stack.perform(synchronous: { transaction in
            let parcel = try transaction.create(Parcel.self)
            (parcel.code, parcel.handling, parcel.size) = ("LV1", [.cold], .large)
            let booking = try transaction.create(Booking.self)
            (booking.first, booking.last) = (3, 7)
            let dog = try transaction.create(Dog.self)
            dog.name = "Rex"
        })
        #expect(try stack.fetchCount(From<Parcel>().where(\.size == .large)) == 1)
        #expect(try stack.fetchOne(From<Parcel>())?.handling == .cold)
        #expect(try stack.fetchOne(From<Booking>())?.nights == 4)
        #expect(try stack.fetchAll(From<Animal>()).map(\.name) == ["Rex"])
        #expect(try stack.fetchCount(From<Animal>().withoutSubentities()) == 0)
        let error = #expect(throws: StorageError.self) {
            try stack.perform(synchronous: { try $0.fetchOne(From<Booking>())?.last = 1 })
        }
        #expect(error?.code == .validationFailed)
    }
}
#endif
