internal import PolystoreFoundation
internal import Polystore

/// The default location of a program's data.
enum DefaultPlace {
    static func path() throws(StorageError) -> String {
        let name = ProcessInfo.processInfo.processName
        let folder: URL
        #if os(macOS)
        let base = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
        folder = (base ?? FileManager.default.homeDirectoryForCurrentUser).appendingPathComponent(name)
        #else
        let home = FileManager.default.homeDirectoryForCurrentUser.appendingPathComponent(".local/share")
        let base = ProcessInfo.processInfo.environment["XDG_DATA_HOME"].map { URL(fileURLWithPath: $0) } ?? home
        folder = base.appendingPathComponent(name)
        #endif
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        } catch {
            throw StorageError(
                .permissionDenied, "the folder for the program's data cannot be created; check the permissions of its parent folder",
                cause: error)
        }
        return folder.appendingPathComponent("\(name).sqlite").path
    }
}
