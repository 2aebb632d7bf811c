public import Foundation
public import Polystore

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
