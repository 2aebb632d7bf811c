public import PolystoreFoundation
public import PolystoreStorage

/// The location of a model's files: a folder `NAME.xcdatamodeld`, or one JSON file for each version, `VERSION.json`.
public protocol ModelFiles {
    /// The folder with the files, such as `Bundle.module.resourceURL`.
    static var folder: URL { get }
    /// The name of the model.
    static var modelName: String { get }
}

extension ModelFiles {
    /// Returns the schema of a version.
    ///
    /// - Throws: `notFound`, which names the expected files and their folder; `invalidConfiguration` for an invalid file.
    public static func schema(version: String) throws(StorageError) -> Schema {
        let manager = FileManager.default, xcode = folder.appendingPathComponent("\(modelName).xcdatamodeld")
        let json = folder.appendingPathComponent("\(version).json")
        do throws(SchemaError) {
            if !modelName.isEmpty, manager.fileExists(atPath: xcode.path) {
                return try XcodeDataModel(contentsOf: xcode).version(version).schema
            }
            if let data = manager.contents(atPath: json.path) {
                return try Schema(json: String(decoding: data, as: UTF8.self)).named(version)
            }
        } catch {
            throw StorageError(error)
        }
        throw StorageError(
            .notFound,
            "the folder \"\(folder.path)\" contains neither \"\(modelName).xcdatamodeld\" nor \"\(version).json\"; add the files to the "
                + "target's resources")
    }
}
