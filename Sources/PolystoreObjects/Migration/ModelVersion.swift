internal import PolystoreFoundation
public import PolystoreStorage

/// An enum of the versions of a model: one case per version, oldest first, whose raw value is the name of the version.
///
/// ```swift
/// enum Versions: String, ModelVersion {
///     case v1 = "Shop", v2 = "Shop 2", v3 = "Shop 3"
///     typealias ModelFile = ShopModel            // Shop.xcdatamodeld among the resources
///
///     static func migrationStages() -> [MigrationStage] {
///         [
///             v1.migrationStage(toStage: .v2, label: "Prices get a currency"),
///             v2.migrationStage(toStage: .v3, label: "One name instead of two", postMigration: { context in
///                 try context.perform { transaction in … }
///             }),
///         ]
///     }
/// }
/// let stack = try DataStack(schemaHistory: Versions.history)
/// ```
/// Versions without a file are those of their classes, or implement `schema` themselves.
public protocol ModelVersion: RawRepresentable, CaseIterable, Hashable, Sendable where RawValue == String {
    /// The location of the versions' files. Not required if `models` or `schema` is implemented in Swift.
    associatedtype ModelFile: ModelFiles = NoModelFile

    /// The schema of the version. By default it is read from the model file, or without one made from `models`.
    var schema: Schema { get throws(StorageError) }

    /// The classes for entities of the version. Empty by default.
    var models: [ManagedObject.Type] { get }

    /// Returns the steps with the work of the program before and after each. By default each version is migrated to the next one without
    /// such work.
    static func migrationStages() -> [MigrationStage]

    /// The stored data that steps may lose (``SchemaHistory/acceptedLosses``). Empty by default.
    static var acceptedLosses: Set<String> { get }
}

extension ModelVersion {
    /// The schema of the model file, or of the classes if there is none.
    ///
    /// - Throws: `notFound` without a file and classes; `invalidConfiguration` for an invalid file or classes that form no model.
    public var schema: Schema {
        get throws(StorageError) {
            if ModelFile.self == NoModelFile.self, !models.isEmpty {
                return try StackModel(classes: models, configurations: [:], version: rawValue).schema
            }
            return try ModelFile.schema(version: rawValue)
        }
    }

    /// Empty.
    public var models: [ManagedObject.Type] { [] }

    /// Returns no stages.
    public static func migrationStages() -> [MigrationStage] { [] }

    /// Empty.
    public static var acceptedLosses: Set<String> { [] }

    /// Returns the stage of the step from this version to another.
    public func migrationStage(
        toStage next: Self, label: String = "", preMigration: MigrationStage.Work? = nil, postMigration: MigrationStage.Work? = nil
    ) -> MigrationStage {
        MigrationStage(
            from: rawValue, to: next.rawValue, label: label, sourceModels: models, destinationModels: next.models,
            preMigration: preMigration, postMigration: postMigration)
    }

    /// The history of the versions: along the stages, or in the order of the cases if there are no stages. The last case is the current
    /// version.
    ///
    /// - Throws: `invalidConfiguration` for stages that form an invalid chain; any error of `schema`.
    public static var history: SchemaHistory {
        get throws(StorageError) {
            var schemas: [Schema] = []
            for version in allCases { schemas.append(try version.schema) }
            let stages = migrationStages(), last = Array(allCases).last
            let steps = stages.map { ($0.sourceVersion, $0.destinationVersion) }
            let chain = steps.isEmpty ? MigrationChain(allCases.map(\.rawValue)) : MigrationChain(steps: steps)
            var history = try SchemaHistory(
                schemas: schemas, migrationChain: chain, exactCurrentVersion: last?.rawValue, models: last?.models ?? [])
            history.stages = stages
            history.acceptedLosses = acceptedLosses
            return history
        }
    }
}

extension Schema {
    /// Returns the same schema under the name of another version.
    func named(_ version: String) throws(SchemaError) -> Schema {
        self.version == version ? self : try Schema(version: version, entities: entities, configurations: configurations)
    }
}
