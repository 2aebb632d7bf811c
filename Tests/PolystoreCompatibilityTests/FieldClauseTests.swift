import Foundation
import PolystoreCompatibility
import TestStores
import Testing

/// Conditions of fields in CoreStore's older forms: the answers are those of the operators.
@Suite struct FieldClauseTests {
    private func stack(_ store: TestStore = .memory) throws -> DataStack {
        let stack = try DataStack(V2.schema())
        try stack.addStorageAndWait(store.make())
        try stack.perform(synchronous: { transaction in
            let ann = try transaction.create(V2.Keeper.self), bob = try transaction.create(V2.Keeper.self)
            (ann.name, bob.name) = ("Ann", "Bob")
            for (name, age, keeper) in [("Tom", 3, ann), ("Kit", 1, bob), (nil, 7, nil)] {
                let cat = try transaction.create(V2.Cat.self)
                (cat.nickname, cat.age, cat.keeper) = (name, age, keeper)
            }
        })
        return stack
    }

    @Test(arguments: TestStore.all) func fieldsAreEqualToValuesAndMembersOfLists(_ store: TestStore) throws {
        let stack = try stack(store)
        defer { for storage in stack.storages { try? storage.erase() } }
        func ages(_ condition: Where<V2.Cat>) throws -> [Int] {
            try stack.fetchAll(From<V2.Cat>(), condition, OrderBy(.ascending("age"))).map(\.age)
        }
        #expect(try ages(Where(\.$age, isEqualTo: 3)) == [3] && ages(Where(\.$nickname, isEqualTo: "Kit")) == [1])
        #expect(try ages(Where(\.$nickname, isEqualTo: nil)) == ages(\.$nickname == nil))
        #expect(try ages(Where(\.$nickname, isEqualTo: nil)) == [7] && ages(Where(\.$age, isEqualTo: nil)) == [])
        #expect(try ages(Where(\.$age, isMemberOf: [1, 7])) == [1, 7] && ages(Where(\.$age, isMemberOf: [Int]())) == [])
        #expect(try ages(Where(\.$nickname, isMemberOf: ["Tom", "Ann"])) == [3])
        let ann = try #require(try stack.fetchOne(From<V2.Keeper>().where(\.$name == "Ann")))
        #expect(try ages(Where(\.$keeper, isEqualTo: ann)) == [3] && ages(Where(\.$keeper, isEqualTo: nil)) == [7])
        #expect(try ages(Where(\.$keeper, isEqualTo: ann.objectID())) == [3])
        #expect(try ages(Where(\.$keeper, isMemberOf: [ann])) == [3] && ages(Where(\.$keeper, isMemberOf: [ann.objectID()])) == [3])
        #expect(try ages(Where(\.$keeper, isMemberOf: [ObjectID<V2.Keeper>]())) == [])
    }

    @Test(arguments: TestStore.all) func aPathBeginsAtAToManyRelationship(_ store: TestStore) throws {
        let stack = try stack(store)
        defer { for storage in stack.storages { try? storage.erase() } }
        func names(_ condition: Where<V2.Keeper>) throws -> [String] {
            try stack.fetchAll(From<V2.Keeper>().where(condition).orderBy(.ascending(\.$name))).map(\.name)
        }
        #expect(try names((\.$cats ~ \.$nickname).any() == "Tom") == names((\V2.Keeper.cats).any(\.nickname == "Tom")))
        #expect(try names((\.$cats ~ \.$nickname).any() == "Tom") == ["Ann"])
        #expect(try names((\.$cats ~ \.$age).none() > 2) == ["Bob"] && names((\.$cats ~ \.$age).all() < 2) == ["Bob"])
        #expect(try names((\.cats ~ \.age).any() == 1) == ["Bob"])
        #expect(try names((\.$cats ~ \.$keeper ~ \.$name).any() == "Ann") == ["Ann"])
        #expect(try names(["Kit", "Lo"] ~= (\.$cats ~ \.$nickname).any()) == ["Bob"])
    }

    @Test func theIdentityIsAFunctionToo() throws {
        let stack = try stack()
        let cat = try #require(try stack.fetchOne(From<V2.Cat>().where(\.$age == 3))), id: ObjectID<V2.Cat> = cat.objectID
        #expect(cat.objectID() == id && cat.objectID == id)
        let snapshot = try #require(try cat.asSnapshot(in: stack)), publisher = try cat.asPublisher(in: stack)
        #expect(snapshot.objectID() == id && publisher.objectID() == id && id.objectID() == id)
        #expect([cat].map(\.objectID) == [id])
    }
}
