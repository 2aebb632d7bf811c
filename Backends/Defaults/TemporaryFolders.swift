package import PolystoreFoundation
package import Polystore
internal import Synchronization

/// Folders that are removed when the program exits, because their users cannot determine when the last of them has ended.
package enum TemporaryFolders {
    private static let made = Mutex<[URL]>([])

    /// Creates a folder.
    @inline(never) package static func make() throws(StorageError) -> URL {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("polystore-\(UUID().uuidString)")
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        } catch {
            throw StorageError(.inputOutput, "a temporary folder cannot be created; check the free space and the permissions", cause: error)
        }
        made.withLock { made in
            if made.isEmpty { atexit { TemporaryFolders.remove() } }
            made.append(folder)
        }
        return folder
    }

    /// Whether a folder is removed when the program exits.
    package static func isTemporary(_ folder: URL) -> Bool {
        made.withLock { $0.contains { $0.standardizedFileURL.path == folder.standardizedFileURL.path } }
    }

    @inline(never) private static func remove() {
        for folder in made.withLock({ $0 }) { try? FileManager.default.removeItem(at: folder) }
    }
}
