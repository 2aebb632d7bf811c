public import Foundation
public import Polystore

/// A version of an Xcode model among the resources of a bundle.
public struct XcodeDataModelSchema: DynamicSchema, Sendable {
    /// The name of the version.
    public let modelVersion: String
    /// The schema of the version.
    public let schema: Schema
    /// The classes of its entities. Other entities use `DynamicObject`.
    public var models: [ManagedObject.Type]

    /// Reads the version of a model that has the name of the model itself.
    ///
    /// - Throws: `notFound`, which names what was looked for and where; `invalidConfiguration` for an invalid model.
    public init(modelName: String, bundle: Bundle = .main, models: [ManagedObject.Type] = []) throws(StorageError) {
        try self.init(XcodeDataModel(named: modelName, in: bundle), modelName, models)
    }

    /// Reads a version from the URL of a model.
    ///
    /// - Throws: `invalidConfiguration` for a missing or invalid model, and for a model without the version.
    public init(modelName: String, modelVersionFileURL: URL, models: [ManagedObject.Type] = []) throws(StorageError) {
        let model: XcodeDataModel
        do throws(SchemaError) { model = try XcodeDataModel(contentsOf: modelVersionFileURL) } catch { throw StorageError(error) }
        try self.init(model, modelName, models)
    }

    private init(_ model: XcodeDataModel, _ version: String, _ models: [ManagedObject.Type]) throws(StorageError) {
        modelVersion = version
        schema = try model.schema(version)
        self.models = models
    }

    /// Reads all versions of a model.
    ///
    /// - Parameters:
    ///   - modelName: The name of the model, by default that of the program.
    ///   - bundle: The bundle with the model among its resources.
    ///   - migrationChain: The order of the versions. The current version of the model must be the last one of the chain; otherwise the
    ///     current version is the last one of the chain that the model has.
    ///   - models: The classes for entities of the current version.
    /// - Throws: `notFound`, which names what was looked for and where; `invalidConfiguration` for an invalid model.
    public static func from(
        modelName: String? = nil, bundle: Bundle = .main, migrationChain: MigrationChain = nil, models: [ManagedObject.Type] = []
    ) throws(StorageError) -> XcodeDataModelVersions {
        let model = try XcodeDataModel(named: modelName ?? XcodeDataModel.programName, in: bundle), ends = migrationChain.leafVersions
        let current =
            model.current.flatMap { ends.isEmpty || ends.contains($0) ? $0 : nil } ?? ends.first { model.versions.contains($0) }
            ?? model.current ?? model.versions.last
        guard let current else { throw StorageError(.invalidConfiguration, "the model has no versions") }
        var versions: [XcodeDataModelSchema] = []
        for name in model.versions { versions.append(try XcodeDataModelSchema(model, name, name == current ? models : [])) }
        return XcodeDataModelVersions(allSchema: versions, currentModelVersion: current)
    }
}
