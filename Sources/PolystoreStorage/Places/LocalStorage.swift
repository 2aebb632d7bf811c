public import Foundation

/// What a stack may do with a store in a file that does not fit its model.
public struct LocalStorageOptions: OptionSet, Sendable, Hashable {
    /// The bits.
    public let rawValue: Int

    /// Options of bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Everything that the file kept is thrown away, and an empty store of the new model is made, where no migration leads there.
    public static let recreateStoreOnModelMismatch = LocalStorageOptions(rawValue: 1 << 0)
    /// A migration that can be inferred may run while `addStorageAndWait` waits.
    public static let allowSynchronousLightweightMigration = LocalStorageOptions(rawValue: 1 << 1)
}

/// A store in a file of this machine.
public protocol LocalStorage: StorageInterface {
    /// Where the file lies, or the folder of a store that keeps its files in one.
    var fileURL: URL { get }

    /// What a stack may do when the file does not fit its model.
    var localStorageOptions: LocalStorageOptions { get }

    /// The bytes that the store takes on disk, with the files beside it that hold data.
    ///
    /// - Throws: `notFound` when there is no file.
    func fileSize() throws(StorageError) -> Int

    /// Gives room that deleted objects left back to the file system; waits for the write transaction that is running.
    ///
    /// - Throws: `storeClosed` when the store is not open; `unsupported` where a file cannot be made smaller in place, then a `backup` is
    ///   a smaller copy; `diskFull` when there is no room for a second copy meanwhile.
    func compact() throws(StorageError)

    /// Writes a copy of one committed snapshot to a file that does not exist yet, while others read and write.
    ///
    /// The copy has the identity of the store: it stands in for it, and not beside it in one stack.
    /// - Throws: `alreadyExists` when there is something at the place; `diskFull`; then nothing is left there.
    func backup(to url: URL) throws(StorageError)
}

extension LocalStorage {
    /// Writes a copy by a closure into a folder of its own, which nobody else can read, and gives it the right name when it is complete.
    public static func writeCopy(to url: URL, _ write: (_ path: String) throws(StorageError) -> Void) throws(StorageError) {
        let manager = FileManager.default
        if manager.fileExists(atPath: url.path) {
            throw StorageError(.alreadyExists, "there is a file at the place of the backup; name another")
        }
        // A name that no other file has: what lies beside the copy is not ours.
        let folder = "\(url.path).\(UUID().uuidString).partial", partial = folder + "/copy"
        guard mkdir(folder, 0o700) == 0 else {
            throw StorageError(
                .permissionDenied, "the backup cannot be written there; look at the folder and its permissions",
                cause: POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO))
        }
        defer { try? manager.removeItem(atPath: folder) }
        try write(partial)
        do {
            let file = try FileHandle(forUpdating: URL(fileURLWithPath: partial))
            try file.synchronize()
            try file.close()
            try manager.moveItem(atPath: partial, toPath: url.path)
            AtomicFile.synchroniseFolder(of: url.path)
        } catch {
            throw StorageError(.inputOutput, "the backup could not be completed; look whether there is room, and try again", cause: error)
        }
    }

    /// Removes a file, if it is there.
    package static func remove(_ path: String) throws(StorageError) {
        do { try FileManager.default.removeItem(atPath: path) } catch CocoaError.fileNoSuchFile {
            return
        } catch {
            throw StorageError(
                .permissionDenied, "a file of the store could not be removed; look after the permissions of its folder", cause: error)
        }
    }

    /// The bytes of files, those that are not there left out; nil when none is.
    public static func size(of paths: [String]) -> Int? {
        let sizes = paths.compactMap { path in
            (try? FileManager.default.attributesOfItem(atPath: path)[.size]) as? Int
        }
        return sizes.isEmpty ? nil : sizes.reduce(0, +)
    }
}
