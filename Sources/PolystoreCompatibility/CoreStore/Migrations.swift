public import Foundation
public import Polystore

extension DataStack {
    /// Returns the types of the migration steps that a store requires to reach the current version of the model.
    public func requiredMigrationsForStorage(_ storage: any StorageInterface) throws(StorageError) -> [MigrationType] {
        try requiredMigrations(for: storage).map(\.type)
    }
}

extension CoreStore {
    /// Returns the types of the migration steps that a store requires to reach the current version of the default stack's model.
    public static func requiredMigrationsForStorage(_ storage: any StorageInterface) throws(StorageError) -> [MigrationType] {
        try defaultStack.requiredMigrationsForStorage(storage)
    }

    /// Migrates a store in the background without adding it. The completion is called on the main queue.
    ///
    /// - Returns: The progress, or nil if no migration is necessary.
    @discardableResult
    public static func upgradeStorageIfNeeded(
        _ storage: any StorageInterface, completion: @escaping @Sendable (Result<[MigrationType], StorageError>) -> Void
    ) -> MigrationProgress? {
        defaultStack.upgradeStorageIfNeeded(storage, on: .main, completion: completion)
    }
}

extension CustomSchemaMappingProvider.CustomMapping {
    /// Discards the objects of an entity.
    public static func deleteEntity(_ sourceEntity: String) -> Self { .deleteEntity(sourceEntity: sourceEntity) }

    /// Creates an entity without objects.
    public static func insertEntity(_ destinationEntity: String) -> Self { .insertEntity(destinationEntity: destinationEntity) }
}

/// The provider of Xcode mapping models in CoreStore. These are binary files that only Apple's tools can read.
public struct XcodeSchemaMappingProvider: SchemaMappingProvider {
    private let sourceVersion: String
    private let destinationVersion: String
    private let folder: URL

    /// Creates a provider for the step between two versions.
    public init(from sourceVersion: String, to destinationVersion: String, mappingModelBundle: Bundle) {
        self.sourceVersion = sourceVersion
        self.destinationVersion = destinationVersion
        folder = mappingModelBundle.resourceURL ?? mappingModelBundle.bundleURL
    }

    /// Returns nil if the bundle contains no mapping models, so that the mapping is inferred.
    ///
    /// - Throws: `unsupported` if the bundle contains mapping models. A `CustomSchemaMappingProvider` has to replace them.
    public func mapping(from source: Schema, to destination: Schema) throws(StorageError) -> MigrationMapping? {
        guard source.version == sourceVersion, destination.version == destinationVersion else { return nil }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        guard let model = names.first(where: { $0.hasSuffix(".xcmappingmodel") || $0.hasSuffix(".cdm") }) else { return nil }
        throw StorageError(
            .unsupported, "\(model) is an Xcode mapping model, which cannot be read; define its mapping in a CustomSchemaMappingProvider")
    }
}
