#if Macros
import PolystoreMacros
import PolystoreModelCode
import PolystoreSchema
import TestStores
import Testing

@Model(unique: [["city", "street"], ["owner", "lot"]])
final class House: ManagedObject {
    var city: String?
    @Attribute(key: "street") var road: String = ""
    @Attribute(.unique) var code: Int?
    var lot: Int?
    @Relationship var owner: HouseOwner?
}

@Model(originalName: "Landlord")
final class HouseOwner: ManagedObject {
    var name: String = ""
}

@Model(unique: [["city", "floors"]])
final class Tower: Site {
    var floors: Int = 1
}

@Model class Site: ManagedObject {
    var city: String?
}

/// Unique constraints over several properties.
@Suite struct UniqueTests {
    private static let json = """
        {"entities": [
          {"name": "House", "attributes": [
            {"name": "city", "type": "string", "optional": true}, {"name": "street", "type": "string", "default": ""},
            {"name": "code", "type": "int64", "optional": true, "unique": true}, {"name": "lot", "type": "int64", "optional": true}],
           "relationships": [{"name": "owner", "to": "HouseOwner", "kind": "toOne"}], "unique": [["city", "street"], ["owner", "lot"]]},
          {"name": "HouseOwner", "originalName": "Landlord", "attributes": [{"name": "name", "type": "string", "default": ""}]}]}
        """

    @Test func theMacroAndAModelFileDeclareTheSame() throws {
        let schema = try Schema(json: Self.json)
        #expect(schema.entities == [House.declaration, HouseOwner.declaration])
        #expect(HouseOwner.declaration.originalName == "Landlord")
        let generated = ModelCode.swift(for: schema)
        let constraints = ["[\"code\"]", "[\"city\", \"street\"]", "[\"owner\", \"lot\"]"].map { "_UniqueConstraint(\($0))" }
        #expect(generated.contains("uniqueConstraints: [\(constraints.joined(separator: ", "))]"))
        #expect(generated.contains("originalName: \"Landlord\""))
    }

    @Test(arguments: TestStore.all) func aConstraintCoversSeveralProperties(_ store: TestStore) throws {
        let stack = try DataStack(House.self, HouseOwner.self)
        try stack.addStorageAndWait(store.make())
        func properties(_ change: (House, HouseOwner) -> Void) throws -> [String]? {
            do {
                try stack.perform(synchronous: { transaction in
                    let owner = try transaction.fetchOne(From<HouseOwner>()) ?? transaction.create(HouseOwner.self)
                    change(try transaction.create(House.self), owner)
                })
                return nil
            } catch let error as StorageError {
                #expect(error.code == .uniqueConstraintViolated && error.details.entity == "House")
                #expect(error.details.property == (error.details.properties.count == 1 ? error.details.properties[0] : nil))
                return error.details.properties
            }
        }
        for (number, street) in ["A", "B"].enumerated() {
            let refused = try properties { house, owner in
                (house.city, house.road, house.owner, house.lot) = ("Ulm", street, owner, number + 1)
                if number == 0 { house.code = 1 }
            }
            #expect(refused == nil)
        }
        // An object with a nil among the values is exempt.
        for _ in 0..<2 { #expect(try properties { house, owner in (house.road, house.owner) = ("A", owner) } == nil) }
        #expect(try properties { house, _ in (house.city, house.road) = ("Ulm", "B") } == ["city", "street"])
        #expect(try properties { house, owner in (house.owner, house.lot) = (owner, 2) } == ["owner", "lot"])
        #expect(try properties { house, _ in house.code = 1 } == ["code"])
    }

    @Test(arguments: TestStore.all) func aConstraintOfASubclassCoversInheritedProperties(_ store: TestStore) throws {
        let stack = try DataStack(Site.self, Tower.self)
        try stack.addStorageAndWait(store.make())
        func add<Object: Site>(_ type: Object.Type) throws {
            try stack.perform(synchronous: { try $0.create(type).city = "Ulm" })
        }
        try add(Tower.self)
        try add(Site.self)
        #expect { try add(Tower.self) } throws: { ($0 as? StorageError)?.details.properties == ["city", "floors"] }
    }

    @Test func anEntityIsRenamed() throws {
        let name = Attribute("name", .string, defaultValue: .string(""))
        let old = try Schema(version: "1", entities: [Entity("Landlord", attributes: [name])])
        let new = try Schema(version: "2", entities: [HouseOwner.declaration])
        #expect(new.changes(since: old).map { "\($0)" } == ["entity Landlord was renamed to HouseOwner"])
    }
}
#endif
