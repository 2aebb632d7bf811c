import Foundation
import PolystoreCompatibility
import PolystoreSQLite
import Testing

/// The samples of the seeds on migrations.
@Suite struct MigrationSamplesTests {
    private static func schema(_ version: String, _ attributes: String = "") throws -> Schema {
        try Schema(
            json: #"""
                {"version": "\#(version)", "entities": [{"name": "Person", "attributes": [
                    {"name": "name", "type": "string"}, {"name": "isVeryOldAccount", "type": "bool"}\#(attributes)]}]}
                """#)
    }

    private static func place() -> URL {
        FileManager.default.temporaryDirectory.appendingPathComponent("polystore-\(UUID().uuidString).sqlite")
    }

    private static func fill(_ url: URL) throws {
        let stack = try DataStack(schema: schema("MyAppModel")), store = SQLiteStore(fileURL: url)
        try stack.addStorageAndWait(store)
        try stack.perform(synchronous: { transaction in
            for (name, isOld) in [("Ann", false), ("Bob", true)] {
                let person = try transaction.create(Into<DynamicObject>(entity: "Person"))
                try person.setValue(.string(name), for: "name")
                try person.setValue(.bool(isOld), for: "isVeryOldAccount")
            }
        })
        try stack.removeStorage(store)
    }

    private static func stack() throws -> DataStack {
        try DataStack(
            schemaHistory: SchemaHistory(
                schema("MyAppModel"), schema("MyAppModelV2", #", {"name": "level", "type": "int16", "default": 1}"#),
                schema("MyAppModelV3", #", {"name": "level", "type": "double", "default": 1}"#),
                migrationChain: ["MyAppModel", "MyAppModelV2", "MyAppModelV3"]))
    }

    @Test func theStepsAreKnownBefore() throws {
        let url = Self.place()
        try Self.fill(url)
        let dataStack = try Self.stack(), storage = SQLiteStore(fileURL: url)
        let migrationTypes: [MigrationType] = try dataStack.requiredMigrationsForStorage(storage)
        if migrationTypes.count > 1
            || (migrationTypes.filter { $0.isHeavyweightMigration }.count) > 0
        {
            // ... will migrate more than once. Show special waiting screen
            #expect(
                migrationTypes == [
                    .lightweight(sourceVersion: "MyAppModel", destinationVersion: "MyAppModelV2"),
                    .lightweight(sourceVersion: "MyAppModelV2", destinationVersion: "MyAppModelV3"),
                ])
        } else {
            Issue.record("two steps are required")
        }
        try storage.erase()
    }

    @Test func aStoreIsAddedWithProgress() async throws {
        let url = Self.place()
        try Self.fill(url)
        let dataStack = try Self.stack(), queue = DispatchQueue(label: "progress")
        let person_v2_to_v3_mapping = CustomSchemaMappingProvider(
            from: "MyAppModelV2",
            to: "MyAppModelV3",
            entityMappings: [
                .transformEntity(
                    sourceEntity: "Person",
                    destinationEntity: "Person",
                    transformer: { (sourceObject: UnsafeSourceObject, createDestinationObject: () -> UnsafeDestinationObject) in
                        if (sourceObject["isVeryOldAccount"] as! Bool?) == true {
                            return  // this account is too old, don't migrate
                        }
                        // migrate the rest
                        let destinationObject = createDestinationObject()
                        destinationObject.enumerateAttributes { (attribute, sourceAttribute) in
                            if let sourceAttribute = sourceAttribute {
                                destinationObject[attribute] = sourceObject[sourceAttribute]
                            }
                        }
                    }
                )
            ]
        )
        let texts = AsyncStream<String>.makeStream()
        let result: Result<SQLiteStore, StorageError> = await withCheckedContinuation { continuation in
            let migrationProgress = dataStack.addStorage(
                SQLiteStore(
                    fileURL: url,
                    migrationMappingProviders: [
                        XcodeSchemaMappingProvider(from: "V1", to: "V2", mappingModelBundle: Bundle.main),
                        person_v2_to_v3_mapping,
                    ]
                ),
                completion: { (result) -> Void in continuation.resume(returning: result) }
            )
            migrationProgress?.setProgressHandler(on: queue) { progress in
                texts.continuation.yield("\(progress.localizedDescription), \(progress.localizedAdditionalDescription)")
            }
        }
        let store = try result.get()
        queue.sync { texts.continuation.finish() }
        var last = ""
        for await text in texts.stream { last = text }
        #expect(last == "100% completed, 2 of 2")
        let people = try dataStack.fetchAll(From<DynamicObject>(entity: "Person"))
        #expect(try people.map { try $0.value("name") } == [.string("Ann")])
        // Whole numbers are converted by hand where attributes are copied by hand.
        #expect(try people.map { try $0.value("level") } == [.double(1)])
        try dataStack.removeStorage(store)
        try? FileManager.default.removeItem(atPath: url.path + ".MyAppModel.backup")
        try store.erase()
    }

    @Test func mappingsAreWrittenWithoutLabels() throws {
        let old = try Schema(json: #"{"version": "V2", "entities": [{"name": "Person"}, {"name": "Pet"}]}"#)
        let new = try Schema(json: #"{"version": "V3", "entities": [{"name": "Pet"}]}"#)
        let provider = CustomSchemaMappingProvider(from: "V2", to: "V3", entityMappings: [.deleteEntity("Person")])
        #expect(try provider.mapping(from: old, to: new)?.losses.isEmpty == true)
        #expect(try provider.mapping(from: new, to: old) == nil)
        let wrong = CustomSchemaMappingProvider(from: "V2", to: "V3", entityMappings: [.deleteEntity("Perso")])
        #expect { try wrong.mapping(from: old, to: new) } throws: { "\($0)".contains(#"has no entity "Perso"; did you mean "Person"?"#) }
    }

    // MARK: Staged migrations

    enum TestModelFile: ModelFileManager {
        static var bundle: Bundle { .main }
        static var modelName: String { "TestModel" }
    }

    enum Versions: String, ModelVersion {
        typealias ModelFile = TestModelFile
        case v1 = "Model"
        case v2 = "Model2"
        case v3 = "Model3"

        static func migrationStages() -> [MigrationStage] {
            [
                v1.migrationStage(
                    toStage: .v2,
                    label: "Lightweight Migration: V1 to V2"),
                v2.migrationStage(
                    toStage: .v3,
                    label: "Custom Migration: V2 to V3",
                    preMigration: { context in
                        // Do work before model is updated from v2 to v3
                    },
                    postMigration: { context in
                        // Do work after model is updated
                    }),
            ]
        }
    }

    @Test func stagesAreDeclaredOnTheVersions() throws {
        #expect(Versions.migrationStages().map(\.isCustom) == [false, true])
        #expect { try Versions.migrationManager() } throws: { error in
            let folder = Bundle.main.resourceURL?.path ?? ""
            return "\(error)".contains(#"the folder "\#(folder)" contains neither "TestModel.xcdatamodeld" nor "Model.json""#)
        }
        #expect { try Schema.named("TestModel", in: .main) } throws: { ($0 as? StorageError)?.code == .notFound }
    }
}
