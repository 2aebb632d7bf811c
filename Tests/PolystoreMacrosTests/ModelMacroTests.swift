#if Macros
import PolystoreInMemory
import PolystoreMacros
import Testing

enum V1 {
    @Model(entity: "Animal") final class Animal: ManagedObject {
        var nickname: String = ""
    }
}

enum V2 {
    @Model(entity: "Animal", abstract: true) class Animal: ManagedObject {
        @Attribute(.unique, key: "name") var nickname: String = "?"
        @Relationship var owner: Owner?
    }

    @Model final class Dog: Animal {
        var age: Int = 3
        var weight: Double?
        @Transient var isBarking: Bool = false
        var years: Int { age * 7 }
    }

    @Model final class Owner: ManagedObject {
        var name: String = ""
        @Relationship(inverse: \Animal.owner, deleteRule: .cascade) var animals: Set<Animal>
    }
}

@Suite struct ModelMacroTests {
    @Test func oneProgramHoldsTwoVersionsOfAnEntity() throws {
        #expect(V1.Animal.declaration.name == "Animal")
        #expect(V2.Animal.declaration.name == "Animal")
        #expect(V1.Animal.declaration.attributes.map(\.name) == ["nickname"])
        #expect(V2.Animal.declaration.attributes.map(\.name) == ["name"])
        #expect(V2.Animal.declaration.isAbstract)
        #expect(V2.Dog.declaration.parent == "Animal")
    }

    @Test func aModelClassIsStoredAndFetched() throws {
        let stack = try DataStack(V2.Animal.self, V2.Dog.self, V2.Owner.self)
        try stack.addStorageAndWait(InMemoryStore())
        try stack.perform(synchronous: { transaction in
            let owner = try transaction.create(V2.Owner.self)
            owner.name = "Ann"
            let dog = try transaction.create(V2.Dog.self)
            dog.nickname = "Rex"
            dog.weight = 20.5
            dog.owner = owner
        })
        let dog = try #require(try stack.fetchOne(From<V2.Dog>().where(\.nickname == "Rex" && \.owner?.name == "Ann")))
        #expect(dog.age == 3)
        #expect(dog.years == 21)
        #expect(dog.weight == 20.5)
        #expect(dog.owner?.animals.count == 1)
        let snapshot = V2.Dog.Snapshot(dog)
        #expect(snapshot.nickname == "Rex")
        #expect(snapshot.age == 3)
    }

    @Test func twoStacksOfOneProgramHaveDifferentSchemas() throws {
        let old = try DataStack(V1.Animal.self), new = try DataStack(V2.Animal.self, V2.Dog.self, V2.Owner.self)
        #expect(old.schema.hash != new.schema.hash)
    }
}
#endif
