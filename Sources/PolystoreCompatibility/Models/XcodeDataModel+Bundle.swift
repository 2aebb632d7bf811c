internal import Foundation
internal import Polystore

extension XcodeDataModel {
    /// Opens the model with a name among the resources of a bundle: `NAME.xcdatamodeld` or `NAME.xcdatamodel`.
    ///
    /// - Throws: `notFound`, which names the expected folders and the models of the bundle; `invalidConfiguration` for an invalid model.
    init(named name: String, in bundle: Bundle) throws(StorageError) {
        let folder = bundle.resourceURL ?? bundle.bundleURL, kinds = ["xcdatamodeld", "xcdatamodel"]
        let expected = kinds.map { folder.appendingPathComponent("\(name).\($0)") }
        guard let url = expected.first(where: { FileManager.default.fileExists(atPath: $0.path) }) else {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
            let models = names.filter { name in kinds.contains { name.hasSuffix(".\($0)") } }.sorted().map { "\"\($0)\"" }
            throw StorageError(
                .notFound,
                "\"\(name).xcdatamodeld\" is not in the bundle \"\(folder.path)\", which contains "
                    + (models.isEmpty ? "no model" : models.joined(separator: ", ")) + "; add it to the target's resources")
        }
        do throws(SchemaError) { try self.init(contentsOf: url) } catch { throw StorageError(error) }
    }

    /// Reads the version with a name, by default the current one.
    func schema(_ name: String? = nil) throws(StorageError) -> Schema {
        do throws(SchemaError) { return try version(name).schema } catch { throw StorageError(error) }
    }

    /// The name of the program, which is the default name of its model.
    static var programName: String {
        Bundle.main.infoDictionary?["CFBundleName"] as? String ?? ProcessInfo.processInfo.processName
    }
}
