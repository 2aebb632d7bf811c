public import Foundation
public import Polystore

extension DataStack {
    /// Creates a stack without stores from the versions of an Xcode model among the resources of a bundle.
    ///
    /// - Parameters:
    ///   - xcodeModelName: The name of the model, without its extension.
    ///   - bundle: The bundle with the model.
    ///   - migrationChain: The order of the versions.
    ///   - models: The classes for entities of the current version. Others use `DynamicObject`, because Swift does not find a class by the
    ///     name in the model.
    /// - Throws: `notFound`, which names what was looked for and where; `invalidConfiguration` for an invalid model or chain.
    public convenience init(
        xcodeModelName: String, bundle: Bundle = .main, migrationChain: MigrationChain = nil, models: [ManagedObject.Type] = []
    ) throws(StorageError) {
        let versions = try XcodeDataModelSchema.from(
            modelName: xcodeModelName, bundle: bundle, migrationChain: migrationChain, models: models)
        try self.init(schemaHistory: SchemaHistory(versions, migrationChain: migrationChain))
    }

    /// Creates a stack without stores from an Xcode model. The name of `xcodeModelName` in HardcoreData and CoreStore 1 to 3.
    public convenience init(
        modelName: String, bundle: Bundle = .main, migrationChain: MigrationChain = nil, models: [ManagedObject.Type] = []
    ) throws(StorageError) {
        try self.init(xcodeModelName: modelName, bundle: bundle, migrationChain: migrationChain, models: models)
    }

    /// Creates a stack without stores from the Xcode model with the name of the program.
    public convenience init(
        bundle: Bundle = .main, migrationChain: MigrationChain, models: [ManagedObject.Type] = []
    ) throws(StorageError) {
        try self.init(xcodeModelName: XcodeDataModel.programName, bundle: bundle, migrationChain: migrationChain, models: models)
    }

    /// Creates a stack without stores from the Xcode model with the name of the program, among the resources of the main bundle.
    ///
    /// - Throws: `notFound`, which names what was looked for and where; `invalidConfiguration` for an invalid model.
    public convenience init() throws(StorageError) { try self.init(migrationChain: nil) }

    /// A stack with the Xcode model of the program, or without entities if there is none. An invalid model is logged.
    static var ofTheProgram: DataStack {
        do throws(StorageError) {
            return try DataStack()
        } catch {
            if error.code != .notFound { StoreLogging.log(.warning, "the model of the program is invalid: \(error.message)") }
            return .withoutEntities
        }
    }
}
