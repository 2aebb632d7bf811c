#if Macros
import Foundation
import PolystoreMacros
import TestStores
import Testing

struct Address: CodedAttributeValue, Equatable {
    var street = "", city = ""
    static var placeholder: Address { Address() }
}

struct Options: OptionSet, AttributeValue {
    let rawValue: Int
    static let urgent = Options(rawValue: 1), secret = Options(rawValue: 2)
}

@Model final class Account: ManagedObject {
    @Attribute(.dynamicInitialValue, .preservedInHistory) var number: UUID = UUID()
    @Attribute(.minLength(2), .maxLength(20), .pattern("[A-Z][a-z]+")) var name: String = "Ann"
    @Attribute(.minimum(0), .maximum(150), .indexed, .excludedFromHistory) var age: Int = 0
    var address: Address = Address()
    var former: Address?
    var options: Options = []
    @Attribute(.inverseDeleteRule(.cascade)) var bank: ObjectID<Bank>?
    @Relationship(inverse: \Card.account, maxCount: 2) var cards: Set<Card>
    @Transient var isOpen: Bool = true
}

@Model final class Card: ManagedObject {
    @Relationship var account: Account?
}

@Model final class Bank: ManagedObject {
    var name: String = ""
}

@Suite struct AttributeOptionTests {
    private func stack(_ store: TestStore) throws -> DataStack {
        let stack = try DataStack(Account.self, Card.self, Bank.self)
        try stack.addStorageAndWait(store.make())
        return stack
    }

    @Test func optionsAreDeclared() throws {
        let attributes = Dictionary(uniqueKeysWithValues: Account.declaration.attributes.map { ($0.name, $0) })
        #expect(attributes["number"]?.defaultValue == nil)
        #expect(attributes["name"]?.rules == AttributeRules(minLength: 2, maxLength: 20, pattern: "[A-Z][a-z]+"))
        #expect(attributes["age"]?.rules == AttributeRules(minimum: .int(0), maximum: .int(150)))
        #expect(attributes["address"]?.coder == "json" && attributes["address"]?.type == .data)
        #expect(attributes["former"]?.isOptional == true && attributes["former"]?.coder == "json")
        #expect(attributes["bank"]?.crossReference == CrossReference(to: "Bank", inverseDeleteRule: .cascade))
        #expect(attributes["number"]?.history == .preserved && attributes["age"]?.history == .excluded)
        #expect(attributes["name"]?.history == .recorded)
        #expect(attributes["isOpen"] == nil)
        #expect(Account.declaration.relationships.first?.maxCount == 2)
        #expect(Account.declaration.indexes == [Index(["age"])])
    }

    @Test(arguments: TestStore.all) func codedValuesOptionSetsAndInitialValues(_ store: TestStore) throws {
        let stack = try stack(store)
        try stack.perform(synchronous: { transaction in
            let one = try transaction.create(Account.self), other = try transaction.create(Account.self)
            #expect(one.number != other.number)
            one.address = Address(street: "Main", city: "Ulm")
            one.options = [.urgent, .secret]
            one.age = 1
            one.isOpen = false
        })
        let one = try #require(try stack.fetchOne(From<Account>().where(\.age == 1)))
        #expect(one.address == Address(street: "Main", city: "Ulm") && one.former == nil && one.options == [.urgent, .secret])
        #expect(one.isOpen)
    }

    @Test(arguments: TestStore.all) func rulesAreChecked(_ store: TestStore) throws {
        let stack = try stack(store)
        #expect {
            try stack.perform(synchronous: { transaction in
                let account = try transaction.create(Account.self)
                account.name = "x"
                account.age = 151
                account.cards = [try Card(context: transaction), try Card(context: transaction), try Card(context: transaction)]
            })
        } throws: { error in
            let failures = (error as? StorageError)?.details.failures.compactMap(\.property).sorted()
            return failures == ["age", "cards", "name", "name"]
        }
    }

    @Test(arguments: TestStore.all) func referencesAreFollowed(_ store: TestStore) throws {
        let stack = try stack(store)
        try stack.perform(synchronous: { transaction in
            let bank = try transaction.create(Bank.self)
            try transaction.create(Account.self).bank = bank.objectID
            _ = try transaction.create(Account.self)
        })
        #expect(try stack.perform(synchronous: { try $0.deleteAll(From<Bank>()) }) == 2)
        #expect(try stack.fetchCount(From<Account>()) == 1)
    }
}
#endif
