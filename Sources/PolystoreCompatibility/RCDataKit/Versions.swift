public import Foundation
public import Polystore

extension ModelVersion {
    /// Returns the history of the versions with their stages, for a stack.
    public static func migrationManager() throws(StorageError) -> SchemaHistory { try history }
}

extension Schema {
    /// Returns the current version of an Xcode model in the resources of a bundle.
    ///
    /// - Throws: `notFound` if there is none; `invalidConfiguration`, whose message describes the error in the model.
    public static func named(_ name: String, in bundle: Bundle) throws(StorageError) -> Schema {
        let url = (bundle.resourceURL ?? bundle.bundleURL).appendingPathComponent("\(name).xcdatamodeld")
        guard FileManager.default.fileExists(atPath: url.path) else {
            throw StorageError(.notFound, "the bundle does not contain \"\(name).xcdatamodeld\"; add it to the target's resources")
        }
        do throws(SchemaError) { return try Schema(xcodeModel: url) } catch { throw StorageError(error) }
    }
}
