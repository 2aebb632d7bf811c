public import Foundation
public import Polystore

/// A type that provides the model of stacks in RCDataKit.
public protocol ModelManager {
    /// The schema of the model.
    static var model: Schema { get throws(StorageError) }
}

/// The location of a model's files among the resources of a bundle.
public protocol ModelFileManager: ModelFiles {
    /// The bundle with the files.
    static var bundle: Bundle { get }
}

extension ModelFileManager {
    /// The folder with the resources of the bundle.
    public static var folder: URL { bundle.resourceURL ?? bundle.bundleURL }

    /// The current version of the Xcode model.
    ///
    /// - Throws: `notFound`, which names what was looked for and where; `invalidConfiguration` for an invalid model.
    public static var model: Schema { get throws(StorageError) { try Schema.named(modelName, in: bundle) } }
}

extension Schema {
    /// Returns a version of an Xcode model in the resources of a bundle, by default the current one.
    ///
    /// - Throws: `notFound`, which names what was looked for and where; `invalidConfiguration`, whose message describes the error in the
    ///   model.
    public static func named(_ name: String, in bundle: Bundle = .main, versionName: String? = nil) throws(StorageError) -> Schema {
        try XcodeDataModel(named: name, in: bundle).schema(versionName)
    }
}
