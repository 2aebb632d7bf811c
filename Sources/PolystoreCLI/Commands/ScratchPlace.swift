internal import Foundation
internal import PolystoreStorage

/// The location of a new store of a kind, which contains nothing else.
struct ScratchPlace {
    /// The URL of the store.
    let text: String
    /// The kind of store and the folder, as they were given, without a password.
    let name: String
    /// The folder that was made for the store.
    private let folder: URL?

    /// Makes the location for a URL: in a temporary folder, in the folder that the URL names, or in a schema of its own on a server.
    ///
    /// - Throws: `alreadyExists` for a URL that could be that of a store in use.
    init(_ text: String) throws(StorageError) {
        let url = try Stores.url(text), unique = "polystore_bench_" + UUID().uuidString.lowercased().prefix(8)
        let query = url.text.split(separator: "?", maxSplits: 1).dropFirst().first
        name = url.redacted
        switch url.scheme {
        case "memory":
            folder = nil
            self.text = "memory:\(unique)"
        case "postgresql":
            if url.option("x-schema") != nil || url.option("x-catalog") != nil {
                throw StorageError(.alreadyExists, "the store gets a schema of its own; leave out x-schema and x-catalog")
            }
            folder = nil
            self.text = "\(url.text)\(query == nil ? "?" : "&")x-schema=\(unique)"
        default:
            let parent = url.place.isEmpty ? FileManager.default.temporaryDirectory.path : url.place
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: parent, isDirectory: &isFolder), isFolder.boolValue,
                !FileManager.default.fileExists(atPath: parent + "/data.mdb")
            else {
                throw StorageError(
                    .alreadyExists,
                    "\(url.redacted) is not the URL of a folder; the measured store is a new one in a folder, such as \(url.scheme):/tmp")
            }
            let made = URL(fileURLWithPath: parent).appendingPathComponent(unique)
            do { try FileManager.default.createDirectory(at: made, withIntermediateDirectories: false) } catch {
                throw StorageError(.permissionDenied, "no folder can be made in \(parent); check its permissions", cause: error)
            }
            folder = made
            let path = made.appendingPathComponent("scratch").path
            let encoded = path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? path
            self.text = "\(url.scheme):\(encoded)\(query.map { "?\($0)" } ?? "")"
        }
    }

    /// Removes the location.
    func remove() { if let folder { try? FileManager.default.removeItem(at: folder) } }
}
