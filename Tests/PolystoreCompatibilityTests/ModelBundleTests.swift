import Foundation
import PolystoreCompatibility
import PolystoreSQLite
import TestStores
import Testing

// Stacks that find their Xcode model in a bundle: CoreStore's README ("Setting up", "Migrations"), HardcoreData, CoreDataMonk and RCDataKit.

class NewPerson: CoreStoreObject {
    @Field.Stored("name") var name: String?
    @Field.Stored("nickname") var nickname: String?
}

@Suite struct ModelBundleTests {
    private static func bundle(_ name: String = "MyModel") throws -> ModelBundle {
        try ModelBundle(
            name, ["MyAppModel": ["name"], "MyAppModelV2": ["name", "age"], "MyAppModelV3": ["name", "nickname"]], current: "MyAppModelV2")
    }

    private func attributes(_ schema: Schema) -> [String] { schema.entities.flatMap(\.attributes).map(\.name).sorted() }

    @Test func aStackFindsItsModel() throws {
        let files = try Self.bundle()
        defer { files.remove() }
        let stack = try DataStack(xcodeModelName: "MyModel", bundle: files.bundle)
        #expect(stack.schemaHistory.currentVersion == "MyAppModelV2" && attributes(stack.schema) == ["age", "name"])
        #expect(stack.schemaHistory.count == 3)
        let chain: MigrationChain = ["MyAppModel", "MyAppModelV2", "MyAppModelV3"]
        let newest = try DataStack(modelName: "MyModel", bundle: files.bundle, migrationChain: chain)
        #expect(newest.schemaHistory.currentVersion == "MyAppModelV3" && attributes(newest.schema) == ["name", "nickname"])
        let monk = try CoreDataStack(modelName: "MyModel", bundle: files.bundle, rootContext: .none)
        #expect(attributes(monk.dataStack.schema) == ["age", "name"])
    }

    @Test func theModelOfTheProgramHasItsName() throws {
        let files = try Self.bundle(ProcessInfo.processInfo.processName)
        defer { files.remove() }
        #expect(try DataStack(bundle: files.bundle, migrationChain: nil).schemaHistory.currentVersion == "MyAppModelV2")
        #expect(try CoreDataStack(bundle: files.bundle).dataStack.schemaHistory.currentVersion == "MyAppModelV2")
    }

    @Test func aMissingModelIsNamedWithItsPlace() throws {
        let files = try Self.bundle()
        defer { files.remove() }
        func message(_ body: () throws -> Void) -> String? {
            do { try body() } catch let error as StorageError where error.code == .notFound { return error.message } catch {}
            return nil
        }
        let expected =
            "\"Other.xcdatamodeld\" is not in the bundle \"\(files.bundle.bundlePath)\", which contains \"MyModel.xcdatamodeld\"; "
            + "add it to the target's resources"
        #expect(message { _ = try DataStack(xcodeModelName: "Other", bundle: files.bundle) } == expected)
        #expect(message { _ = try CoreDataStack(modelName: "Other", bundle: files.bundle) } == expected)
        #expect(message { _ = try Schema.named("Other", in: files.bundle) } == expected)
        let program = ProcessInfo.processInfo.processName
        #expect(message { _ = try CoreDataStack() }?.hasPrefix("\"\(program).xcdatamodeld\" is not in the bundle") == true)
        #expect(message { _ = try DataStack() }?.hasPrefix("\"\(program).xcdatamodeld\" is not in the bundle") == true)
        #expect(message { _ = try DataStack(migrationChain: ["a"]) }?.hasPrefix("\"\(program).xcdatamodeld\" is not in the bundle") == true)
    }

    @Test func oneListHoldsVersionsInAllForms() throws {
        let files = try Self.bundle()
        defer { files.remove() }
        let legacySchema = try XcodeDataModelSchema.from(
            modelName: "MyModel",  // .xcdatamodeld name
            bundle: files.bundle,
            migrationChain: ["MyAppModel", "MyAppModelV2", "MyAppModelV3"]
        )
        #expect(legacySchema.currentModelVersion == "MyAppModelV3" && legacySchema.map(\.modelVersion).count == 3)
        let newSchema = try CoreStoreSchema(modelVersion: "V1", entities: [Entity<NewPerson>("Person")])
        let stack = try DataStack(
            schemaHistory: SchemaHistory(
                legacySchema + [newSchema],
                migrationChain: ["MyAppModel", "MyAppModelV2", "MyAppModelV3", "V1"]
            )
        )
        #expect(stack.schemaHistory.map(\.version) == ["MyAppModel", "MyAppModelV2", "MyAppModelV3", "V1"])
        let store = try stack.addStorageAndWait(SQLiteStore(fileURL: files.folder.appendingPathComponent("a.db")))
        try stack.perform(synchronous: { try $0.create(NewPerson.self).nickname = "Ann" })
        #expect(try stack.fetchAll(From<NewPerson>()).map(\.nickname) == ["Ann"])
        try stack.removeStorage(store)

        let named = try Schema.named("MyModel", in: files.bundle, versionName: "MyAppModel")
        let version = try XcodeDataModel(contentsOf: files.folder.appendingPathComponent("MyModel.xcdatamodeld")).version("MyAppModelV2")
        let mixed = try SchemaHistory([named, version, newSchema], migrationChain: ["MyAppModel", "MyAppModelV2", "V1"])
        #expect(mixed.currentModelVersion == "V1" && mixed.models.count == 1)
        #expect(try DataStack(named, version, newSchema, migrationChain: ["MyAppModel", "MyAppModelV2", "V1"]).schemaHistory.count == 3)
        #expect(try SchemaHistory(legacySchema).currentModelVersion == "MyAppModelV3")
    }

    @Test func oneVersionIsReadByItsName() throws {
        let files = try ModelBundle("Shop", ["Shop": ["name"], "Shop 2": ["name", "age"]], current: "Shop 2")
        defer { files.remove() }
        #expect(attributes(try XcodeDataModelSchema(modelName: "Shop", bundle: files.bundle).schema) == ["name"])
        let url = files.folder.appendingPathComponent("Shop.xcdatamodeld")
        #expect(attributes(try XcodeDataModelSchema(modelName: "Shop 2", modelVersionFileURL: url).schema) == ["age", "name"])
        #expect(throws: StorageError.self) { try XcodeDataModelSchema(modelName: "Shop 3", modelVersionFileURL: url) }
    }
}

// RCDataKit's model files. Types cannot be declared with a bundle that is created later, so the bundle is shared.

private let shared = try? ModelBundle("TestModel", ["Model": ["name"], "Model2": ["name", "age"]], current: "Model2")

private enum TestModel: ModelFileManager {
    static var bundle: Bundle { shared?.bundle ?? .main }
    static var modelName: String { "TestModel" }
}

private enum CodeModel: ModelManager {
    static var model: Schema { get throws(StorageError) { try TestModel.model } }
}

private enum ModelVersions: String, ModelVersion {
    typealias ModelFile = TestModel
    case v1 = "Model"
    case v2 = "Model2"
}

@Suite struct ModelFileTests {
    private func attributes(_ stack: some DataStackProtocol) -> [String] {
        stack.dataStack.schema.entities.flatMap(\.attributes).map(\.name).sorted()
    }

    private func add(_ name: String, to stack: some DataStackProtocol) throws {
        let context = stack.backgroundContext(author: .networkSync)
        try context.create(Into<DynamicObject>(entity: "Person")).setValue(.string(name), for: "name")
        try context.save()
    }

    private func names(_ stack: some DataStackProtocol) throws -> [Value] {
        try stack.dataStack.fetchAll(From<DynamicObject>(entity: "Person")).map { try $0.value("name") }
    }

    @Test func aVersionIsReadFromTheModelFile() throws {
        #expect(try TestModel.schema(version: "Model").version == "Model")
        #expect(try TestModel.model.version == "Model2" && Schema.named("TestModel", in: TestModel.bundle).version == "Model2")
        #expect(try ModelVersions.migrationManager().currentVersion == "Model2")
    }

    @Test func stacksUseTheModelFile() throws {
        for stack in [
            try PreviewStack(TestModel.self), try PreviewStack(CodeModel.self, name: "x"), try PreviewStack(versionKey: ModelVersions.self),
        ] {
            try add("Ann", to: stack)
            #expect(try attributes(stack) == ["age", "name"] && names(stack) == [.string("Ann")])
        }
        for stack in [try TestingStack(TestModel.self), try TestingStack(CodeModel.self, bundle: .main, testName: "x")] {
            try add("Ann", to: stack)
            #expect(try attributes(stack) == ["age", "name"] && names(stack) == [.string("Ann")])
        }
    }

    @Test func aFileIsMigratedAlongTheVersions() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("polystore-\(UUID().uuidString).sqlite")
        defer { for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: url.path + end) } }
        do {
            let old = try BasicDataStack(
                storeURL: url, versionKey: ModelVersions.self, currentVersion: .v1, mainAuthor: .iOSViewContext)
            #expect(attributes(old) == ["name"])
            try add("Ann", to: old)
            try old.dataStack.removeStorage(old.dataStack.storages[0])
        }
        do {
            let new = try BasicDataStack(storeURL: url, versionKey: ModelVersions.self, mainAuthor: .iOSViewContext)
            #expect(try attributes(new) == ["age", "name"] && names(new) == [.string("Ann")])
            try new.dataStack.removeStorage(new.dataStack.storages[0])
        }
        let same = try BasicDataStack(TestModel.self, storeURL: url, mainAuthor: .iOSViewContext)
        #expect(try names(same) == [.string("Ann")])
        try same.dataStack.removeStorage(same.dataStack.storages[0])
    }
}
