internal import ArgumentParser
internal import Foundation
internal import PolystoreStorage
internal import PolystoreTransfer

/// `polystore backup`.
struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Writes a copy of a store in a file, while programs may read and write it.",
        discussion: """
            The copy is a store of the same kind with the same identity and history: it can replace the store, but cannot be used beside it in \
            one program. Stores on a server are copied by polystore dump, by polystore transfer, or by the tools of the server.
            """)

    @Argument(help: "The store to copy, as a URL.", completion: ShellCompletion.store)
    var store: String

    @Argument(help: "The path of the copy, which must not exist.", completion: .file())
    var path: String

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        let opened = try Stores.open(store)
        defer { opened.close() }
        guard let storage = opened.store.ability((any LocalStorage).self) else {
            throw StorageError(
                .unsupported, "\(opened.url.redacted) is not in a file; polystore dump writes an archive of it, polystore transfer a copy")
        }
        // The engines copy in one call, so an interruption removes what they have written.
        let folder = "\(path).\(UUID().uuidString).partial"
        Interruption.end(removing: folder)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let copy = try Self.made(folder, for: path).appendingPathComponent("copy")
        do throws(StorageError) { try storage.backup(to: copy) } catch {
            Interruption.waitForEnd()
            // The disk that is full is that of the copy.
            guard error.code == .diskFull || error.code == .inputOutput else { throw error }
            UsedStores.removeAll()
            let reason = error.code == .diskFull ? "its disk is full" : "reading the store or writing the copy failed; check both disks"
            throw StorageError(error.code, "nothing was written to \(path): \(reason)", details: error.details, cause: error)
        }
        Interruption.end(removing: nil)
        try MadeStore.checkLogs(of: path)
        do { try FileManager.default.moveItem(atPath: copy.path, toPath: path) } catch {
            throw StorageError(.inputOutput, "the backup could not be given the name \(path); check that nothing has it", cause: error)
        }
        AtomicFile.synchroniseFolder(of: path)
        if !json { return }
        var isFolder: ObjCBool = false
        _ = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
        let file = isFolder.boolValue ? path + "/data.mdb" : path
        let size = (try? FileManager.default.attributesOfItem(atPath: file)[.size]) as? Int ?? 0
        Console.report(JSONText.object([("path", JSONText.string(path)), ("bytes", String(size))]))
    }

    private static func made(_ folder: String, for path: String) throws(StorageError) -> URL {
        if path == "-" || path.hasPrefix("@") || path.wholeMatch(of: /[A-Za-z][A-Za-z0-9+]*:.*/.dotMatchesNewlines()) != nil {
            throw StorageError(
                .invalidConfiguration,
                "\(path) is no path of a file; specify one without a scheme or @ (./\(path) if the file is to have this name)")
        }
        if FileManager.default.fileExists(atPath: path) {
            throw StorageError(.alreadyExists, "a file already exists at the path of the backup, \(path); choose another path")
        }
        try MadeStore.checkLogs(of: path)
        guard mkdir(folder, 0o700) == 0 else {
            throw StorageError(
                .permissionDenied, "the backup \(path) cannot be written; check that its folder exists and is writable",
                cause: POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO))
        }
        return URL(fileURLWithPath: folder)
    }
}
