import Foundation
import PolystoreCompatibility
import TestStores
import Testing

/// The declarations of CoreStore's README and of the examples in its sources for `Field`.
class Gadget: CoreStoreObject {
    @Field.Stored(
        "name",
        customGetter: { object, field in field.primitiveValue.map { $0.isEmpty ? "unnamed" : $0 } ?? "" },
        customSetter: { object, field, newValue in field.primitiveValue = newValue.trimmingCharacters(in: .whitespaces) },
        affectedByKeyPaths: ["size"])
    var name: String = ""
    @Field.Stored("note", customSetter: { object, field, newValue in field.primitiveValue = newValue?.uppercased() })
    var note: String?
    @Field.Coded("size", coder: FieldCoders.Json.self) var size: Address?
    @Field.Coded("color", coder: FieldCoders.Plist.self, dynamicInitialValue: { ["red", "\(counter())"] })
    var color: [String]
    @Field.Coded(
        "words",
        coder: (
            encode: { Data($0.joined(separator: " ").utf8) },
            decode: { data in String(decoding: data ?? Data(), as: UTF8.self).split(separator: " ").map(String.init) }
        ),
        customGetter: { object, field in (field.primitiveValue ?? []) + [object.$name.value] })
    var words: [String] = ["a"]
    @Field.Virtual(
        "title",
        customGetter: { object, field in
            if let title = field.primitiveValue { return title }
            let title = "\(object.$name.value)/\(object.$note.value ?? "-")/\(object.$words.value.count)"
            field.primitiveValue = title
            return title
        },
        customSetter: { object, field, newValue in field.primitiveValue = newValue },
        affectedByKeyPaths: ["name", "note"])
    var title: String

    static func counter() -> Int { 7 }
    static func describe(_ object: ObjectProxy<Gadget>, _ field: ObjectProxy<Gadget>.FieldProxy<String>) -> String { field.value }
}

extension Gadget: ImportableUniqueObject {
    typealias ImportSource = String
    static var uniqueIDKeyPath: String { String(keyPath: \Gadget.$name) }
    static func uniqueID(from source: String, in transaction: BaseDataTransaction) -> String? { source }
    func update(from source: String, in transaction: BaseDataTransaction) { note = "imported" }
    typealias UniqueIDType = String
}

@Suite struct FieldDeclarationTests {
    private func stack(_ store: TestStore) throws -> DataStack {
        let stack = try DataStack(CoreStoreSchema(modelVersion: "V1", entities: [Entity<Gadget>("Gadget")]))
        try stack.addStorageAndWait(store.make())
        return stack
    }

    @Test(arguments: TestStore.all) func accessorsUseThePrimitiveValue(_ store: TestStore) throws {
        let stack = try stack(store)
        defer { for storage in stack.storages { try? storage.erase() } }
        try stack.perform(synchronous: { transaction in
            let one = try transaction.create(Gadget.self)
            #expect(one.name == "unnamed" && one.title == "unnamed/-/2")
            one.name = "  saw "
            one.note = "new"
            #expect(one.name == "saw" && one.note == "NEW" && one.words == ["a", "saw"])
            // The accessor of the title keeps its value until it is assigned.
            #expect(one.title == "unnamed/-/2")
            one.title = "Saw"
            #expect(one.title == "Saw")
        })
        let one = try #require(try stack.fetchOne(From<Gadget>().where(\.$name == "saw")))
        #expect(one.note == "NEW" && one.title == "saw/NEW/2" && one.words == ["a", "saw"])
    }

    @Test(arguments: TestStore.all) func codedFieldsHaveInitialValuesOfAllKinds(_ store: TestStore) throws {
        let stack = try stack(store)
        defer { for storage in stack.storages { try? storage.erase() } }
        try stack.perform(synchronous: { transaction in
            let one = try transaction.create(Gadget.self)
            #expect(one.size == nil && one.color == ["red", "7"])
            let other = try transaction.create(Gadget.self)
            (other.size, other.color) = (Address(street: "Main", city: "Ulm"), [])
        })
        let gadgets = try stack.fetchAll(From<Gadget>().where(\.$size == nil))
        #expect(gadgets.map(\.color) == [["red", "7"]])
        let other = try #require(try stack.fetchOne(From<Gadget>().where(\.$size != nil)))
        #expect(other.size == Address(street: "Main", city: "Ulm") && other.color == [])
    }

    @Test(arguments: TestStore.all) func theIdentityOfAnImportIsAnAttributeByDefault(_ store: TestStore) throws {
        let stack = try stack(store)
        defer { for storage in stack.storages { try? storage.erase() } }
        for _ in 1...2 {
            try stack.perform(synchronous: { transaction in
                _ = try transaction.importUniqueObjects(Into<Gadget>(), sourceArray: ["saw", "axe"])
            })
        }
        #expect(try stack.fetchAll(From<Gadget>().orderBy(.ascending(\.$name))).map(\.uniqueIDValue) == ["axe", "saw"])
        #expect(try stack.fetchCount(From<Gadget>().where(\.$note == "IMPORTED")) == 2)
        // In a request it names the attribute.
        #expect(try stack.fetchAll(From<Gadget>().where(\.uniqueIDValue == "axe").orderBy(\.uniqueIDValue)).map(\.name) == ["axe"])
    }
}
