public import Foundation
public import Polystore

extension DataStack {
    /// The kinds of the steps that a store has to take to the current version of the model.
    public func requiredMigrationsForStorage(_ storage: any StorageInterface) throws(StorageError) -> [MigrationType] {
        try requiredMigrations(for: storage).map(\.type)
    }
}

extension CoreStore {
    /// The kinds of the steps that a store has to take to the current version of the default stack's model.
    public static func requiredMigrationsForStorage(_ storage: any StorageInterface) throws(StorageError) -> [MigrationType] {
        try defaultStack.requiredMigrationsForStorage(storage)
    }

    /// Migrates a store in the background without adding it; the completion is called on the main queue.
    ///
    /// - Returns: The progress; nil when nothing has to be migrated.
    @discardableResult
    public static func upgradeStorageIfNeeded(
        _ storage: any StorageInterface, completion: @escaping @Sendable (Result<[MigrationType], StorageError>) -> Void
    ) -> MigrationProgress? {
        defaultStack.upgradeStorageIfNeeded(storage, on: .main, completion: completion)
    }
}

extension CustomSchemaMappingProvider.CustomMapping {
    /// The objects of an entity are left behind.
    public static func deleteEntity(_ sourceEntity: String) -> Self { .deleteEntity(sourceEntity: sourceEntity) }

    /// An entity begins without objects.
    public static func insertEntity(_ destinationEntity: String) -> Self { .insertEntity(destinationEntity: destinationEntity) }
}

/// CoreStore's provider of mapping models that were drawn in Xcode. They are binary files of Apple's tools, which nothing else reads.
public struct XcodeSchemaMappingProvider: SchemaMappingProvider {
    private let sourceVersion: String
    private let destinationVersion: String
    private let folder: URL

    /// A provider for the step between two versions.
    public init(from sourceVersion: String, to destinationVersion: String, mappingModelBundle: Bundle) {
        self.sourceVersion = sourceVersion
        self.destinationVersion = destinationVersion
        folder = mappingModelBundle.resourceURL ?? mappingModelBundle.bundleURL
    }

    /// Nil, so that the mapping is inferred, where the bundle has no mapping models.
    ///
    /// - Throws: `unsupported` where it has some: what is drawn there has to be said by a `CustomSchemaMappingProvider`.
    public func mapping(from source: Schema, to destination: Schema) throws(StorageError) -> MigrationMapping? {
        guard source.version == sourceVersion, destination.version == destinationVersion else { return nil }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        guard let model = names.first(where: { $0.hasSuffix(".xcmappingmodel") || $0.hasSuffix(".cdm") }) else { return nil }
        throw StorageError(
            .unsupported, "\(model) is a mapping model of Xcode, which cannot be read: say what it does in a CustomSchemaMappingProvider")
    }
}
