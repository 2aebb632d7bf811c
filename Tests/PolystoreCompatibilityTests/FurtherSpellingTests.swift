import Foundation
import PolystoreCompatibility
import PolystoreInMemory
import TestStores
import Testing

/// Spellings of the original libraries that none of their samples uses.
@Suite(.serialized) struct FurtherSpellingTests {
    private func stack(_ store: TestStore = .memory) throws -> DataStack {
        let stack = try sampleStack()
        try stack.addStorageAndWait(store.make())
        try stack.perform(synchronous: { transaction in
            for (name, age, location) in [("Ann", 10, "Ulm"), ("Ben", 20, "Ulm"), ("Cid", 30, "Ulm"), ("Dan", 70, "Bonn")] {
                let person = try transaction.create(MyPersonEntity.self)
                (person.name, person.age, person.location, person.personID) = (name, age, location, 20)
            }
        })
        return stack
    }

    @Test func abstractEntitiesHaveNoObjects() throws {
        let stack = try makeStack()
        try stack.addStorageAndWait(InMemoryStore())
        #expect { try stack.perform(synchronous: { _ = try $0.create(Animal.self) }) } throws: { error in
            (error as? StorageError)?.code == .invalidConfiguration
        }
    }

    // MARK: CoreStore and RCDataKit

    @Test(arguments: TestStore.all) func aConditionCanBeAConstant(_ store: TestStore) throws {
        let stack = try stack(store)
        #expect(try stack.fetchAll(From<MyPersonEntity>(), Where(true)).count == 4)
        #expect(try stack.fetchAll(From<MyPersonEntity>(), Where(false)).isEmpty)
    }

    @Test(arguments: TestStore.all) func clausesOfAQueryOrderAndCut(_ store: TestStore) throws {
        let rows = try stack(store).queryAttributes(
            From<MyPersonEntity>(), Select("name"), Where("age < 70"), OrderBy(.descending("age")), Tweak { $0.fetchLimit = 2 })
        #expect(rows.compactMap { $0["name"] as? String } == ["Cid", "Ben"])
    }

    @Test func conditionsAreJoinedByEither() throws {
        let conditions: [Where<MyPersonEntity>] = [Where("age < 20"), Where("age > 60"), Where("name == 'Dan'")]
        let people = try stack().fetchAll(From<MyPersonEntity>(), conditions.joined(with: .or))
        #expect(people.map(\.name) == ["Ann", "Dan"])
    }

    @MainActor @Test func aStackOfRCDataKitIsThatOfATask() async throws {
        struct SubView { @EnvironmentDataStack var dataStack }
        _ = try sampleStack()
        let view = SubView(), stack = try PreviewStack(MyEntity.self)
        try await dataStackEnvironment(stack) {
            let found = try view.$dataStack.get()
            #expect(found === stack.dataStack)
            #expect(view.dataStack?.viewContext === stack.viewContext)
        }
        #expect(view.dataStack == nil)
    }

    @Test func mappingModelsOfXcodeAreRefused() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("polystore-\(UUID().uuidString).bundle")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let bundle = try #require(Bundle(url: folder)), place = bundle.resourceURL ?? bundle.bundleURL
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        let provider = XcodeSchemaMappingProvider(from: "V1", to: "V2", mappingModelBundle: bundle)
        let old = try Schema(json: #"{"version": "V1", "entities": []}"#), new = try Schema(json: #"{"version": "V2", "entities": []}"#)
        #expect(try provider.mapping(from: old, to: new) == nil)
        try Data("mapping".utf8).write(to: place.appendingPathComponent("V1toV2.cdm"))
        #expect { try provider.mapping(from: old, to: new) } throws: { error in
            (error as? StorageError)?.code == .unsupported && "\(error)".contains("V1toV2.cdm")
        }
        #expect(try provider.mapping(from: new, to: old) == nil)
    }

    // MARK: CoreDataMonk

    @Test(arguments: TestStore.all) func everyComparisonOfCoreDataMonkIsItself(_ store: TestStore) throws {
        let World = try CoreDataMainContext(stack: CoreDataStack(stack(store)))
        func names(_ condition: Where<MyPersonEntity>) throws -> String {
            try World.fetchAll(MyPersonEntity.self, condition, orderBy: .ascending("name")).compactMap(\.name).joined(separator: " ")
        }
        #expect(try names(%"age" == 20) == "Ben")
        #expect(try names(%"age" != 20) == "Ann Cid Dan")
        #expect(try names(%"age" < 20) == "Ann")
        #expect(try names(%"age" <= 20) == "Ann Ben")
        #expect(try names(%"age" > 20) == "Cid Dan")
        #expect(try names(%"age" >= 20) == "Ben Cid Dan")
        // Everybody has the number 20.
        #expect(try names(%"age" == %"personID") == "Ben")
        #expect(try names(%"age" != %"personID") == "Ann Cid Dan")
        #expect(try names(%"age" < %"personID") == "Ann")
        #expect(try names(%"age" <= %"personID") == "Ann Ben")
        #expect(try names(%"age" > %"personID") == "Cid Dan")
        #expect(try names(%"age" >= %"personID") == "Ben Cid Dan")
    }

    @Test(arguments: TestStore.all) func optionsOfCoreDataMonkReachTheRequest(_ store: TestStore) throws {
        let World = try CoreDataMainContext(stack: CoreDataStack(stack(store)))
        let first = try World.fetchAll(MyPersonEntity.self, orderBy: .ascending("name"), options: .limit(2))
        #expect(first.map(\.name) == ["Ann", "Ben"])
        let last = try World.fetchAll(MyPersonEntity.self, orderBy: .ascending("name"), options: .offset(3))
        #expect(last.map(\.name) == ["Dan"])
        let tweaked = try World.fetchAll(
            MyPersonEntity.self, orderBy: .ascending("name"), options: .offset(1) | .tweak { $0.fetchLimit = 1 })
        #expect(tweaked.map(\.name) == ["Ben"])
        let zoo = try makeStack()
        try zoo.addStorageAndWait(store.make())
        try zoo.perform(synchronous: { _ = try $0.create(Dog.self) })
        let Zoo = try CoreDataMainContext(stack: CoreDataStack(zoo))
        #expect(try Zoo.fetchAll(Animal.self).count == 1)
        #expect(try Zoo.fetchAll(Animal.self, options: .noSubEntities).isEmpty)
    }

    @Test(arguments: TestStore.all) func aQueryOfCoreDataMonkComputesAndFiltersGroups(_ store: TestStore) throws {
        let World = try CoreDataMainContext(stack: CoreDataStack(stack(store)))
        let targets: [QueryTargets] = [
            .sum("age", alias: "sum"), .stdDev("age", alias: "deviation"), .min("age", alias: "least"), .max("age", alias: "greatest"),
            .median("age", alias: "median"), .count("age", alias: "number"), .average("age", alias: "average"),
        ]
        let all = targets.reduce(QueryTargets.select("location")) { $0 | $1 }
        // Only one group has more than one member.
        let rows = try World.query(MyPersonEntity.self, all, groupBy: %"location", having: %"number" > 1)
        #expect(rows.count == 1)
        let row = try #require(rows.first)
        #expect(row["location"] as? String == "Ulm")
        #expect(["sum", "least", "greatest", "number"].map { row[$0] as? Int } == [60, 10, 30, 3])
        #expect(["median", "average"].map { row[$0] as? Double } == [20, 20])
        // The deviation of the population: the root of (100 + 0 + 100) / 3.
        #expect(abs((row["deviation"] as? Double ?? 0) - (200.0 / 3).squareRoot()) < 1e-9)
        let doubled = try World.query(MyPersonEntity.self, .expression("age * 2", alias: "double"), %"name" == "Ann")
        #expect(doubled.map { $0["double"] as? Int } == [20])
    }
}
