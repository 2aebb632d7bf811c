#if Macros
import Foundation
import PolystoreCompatibility
import PolystoreInMemory
import PolystoreMacros
import Testing

/// The samples of the guide for users of CoreDataMonk.
enum FromCoreDataMonk {
    @Model final class Hero: ManagedObject {
        var name: String = ""
        var age: Int = 0
        var location: String?
        @Relationship(inverse: \Hero.followers) var friend: Hero?
        @Relationship var followers: Set<Hero>
    }
}

extension FromCoreDataMonk {
    @Suite struct Samples {
        @Test func aWorldIsSetUp() throws {
            let fileURL = URL(fileURLWithPath: temporaryPath())
            let stack = CoreDataStack(try DataStack(Hero.self))
            try stack.addDatabaseStore(fileURL: fileURL)
            let World = try CoreDataMainContext(stack: stack)
            try World.beginUpdateAndWait { update in
                let farmer = try update.create(Hero.self)
                farmer.name = "Farmer"
                let knight = try update.fetchOrCreate(Hero.self, %"name" == "Knight" && %"age" == 18)
                knight.friend = farmer
                try update.commit()
            }
            let knight = try World.fetch(Hero.self, %"name" == "Knight")
            defer { for store in stack.dataStack.storages { try? store.erase() } }
            #expect(knight.age == 18 && knight.friend?.name == "Farmer")
        }

        @Test func keysAreFetchedAndQueried() throws {
            let World = try world()
            let heroes = try World.fetchAll(
                Hero.self, %"age" >= 18 || %"location" == "Taipei",
                orderBy: .ascending("name") | .descending("age"), options: .limit(100) | .offset(1))
            let average = try World.queryValue(Hero.self, .average("age")) as? Double
            let places = try World.query(
                Hero.self, .select("location") | .average("age"), %"name" == "Monk", orderBy: .descending("age"),
                groupBy: %"location")
            #expect(heroes.map(\.age) == [20, 30] && average == 30)
            #expect(places.map { $0["location"] as? String } == ["Tokyo", "Taipei"])
        }

        @Test func keyPathsDoTheSame() async throws {
            let stack = try DataStack(Hero.self)
            try stack.addStorageAndWait(InMemoryStore())
            try await stack.perform { transaction in
                let farmer = try transaction.create(Hero.self)
                farmer.name = "Farmer"
                let knight = try transaction.fetchOrCreate(Hero.self, \.name == "Knight" && \.age == 18)
                knight.friend = farmer
            }
            let heroes = try stack.fetchAll(
                From<Hero>().where(\.age >= 18 || \.location == "Taipei")
                    .orderBy(.ascending(\.name), .descending(\.age)).limit(100))
            let average = try stack.queryValue(From<Hero>().select(Double.self, .average(\.age)))
            let followed = try stack.fetchAll(From<Hero>().where((\Hero.followers).any(\.age < 20)))
            #expect(heroes.map(\.name) == ["Knight"] && average == 9 && followed.map(\.name) == ["Farmer"])
        }

        @Test func anIdOutlivesTheWaitForAServer() async throws {
            let stack = try world().stack.dataStack
            let id = try stack.fetchIDs(From<Hero>().where(\.name == "Warrior"))[0]
            func askServer() async throws -> Int { 31 }

            let age = try await askServer()
            try await stack.perform { transaction in
                try transaction.edit(id)?.age = age
            }
            #expect(try stack.fetchExisting(id)?.age == 31)
        }

        @Test func anUpdateWithoutCommitChangesNothing() throws {
            let World = try world()
            let warrior = try World.fetch(Hero.self, %"name" == "Warrior")
            try World.beginUpdateAndWait { update in
                try update.use(warrior).age = 99
            }
            #expect(try World.fetch(Hero.self, %"name" == "Warrior").age == 30)
            #expect { try World.fetch(Hero.self, %"nam" == "Warrior") } throws: { error in
                (error as? StorageError)?.code == .invalidPredicate && "\(error)".contains("name")
            }
        }

        private func fill(_ World: CoreDataMainContext) throws {
            try World.beginUpdateAndWait { update in
                for (name, age, location) in [("Monk", 20, "Taipei"), ("Warrior", 30, "Taipei"), ("Monk", 40, "Tokyo")] {
                    let hero = try update.create(Hero.self)
                    (hero.name, hero.age, hero.location) = (name, age, location)
                }
                try update.commit()
            }
        }

        private func world() throws -> CoreDataMainContext {
            let stack = CoreDataStack(try DataStack(Hero.self))
            try stack.addInMemoryStore()
            let World = try CoreDataMainContext(stack: stack)
            try fill(World)
            return World
        }
    }
}
#endif
