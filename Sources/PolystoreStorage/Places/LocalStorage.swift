public import PolystoreFoundation

/// A store in a local file.
public protocol LocalStorage: StorageInterface {
    /// The URL of the file, or of the folder of a store that consists of several files.
    var fileURL: URL { get }

    /// The actions that a stack may take if the file does not fit its model.
    var localStorageOptions: LocalStorageOptions { get }

    /// Returns the size of the store on disk in bytes, including the files next to it that contain data.
    ///
    /// - Throws: `notFound` if there is no file.
    func fileSize() throws(StorageError) -> Int

    /// Returns the space of deleted objects to the file system. Waits for a running write transaction.
    ///
    /// - Throws: `storeClosed` if the store is not open; `unsupported` if a file cannot be made smaller in place, in which case a `backup`
    ///   is a smaller copy; `diskFull` if there is no space for a temporary second copy.
    func compact() throws(StorageError)

    /// Writes a copy of one committed snapshot to a file that does not exist yet. Other sessions can read and write meanwhile.
    ///
    /// The copy has the identity of the store: it can replace the store but cannot be used next to it in one stack.
    /// - Throws: `alreadyExists` if the file exists; `diskFull`. After an error no part of the copy remains.
    func backup(to url: URL) throws(StorageError)
}

extension LocalStorage {
    /// Writes a copy with a closure into a private folder that only its owner can read, and moves it to its final path when it is complete.
    public static func writeCopy(to url: URL, _ write: (_ path: String) throws(StorageError) -> Void) throws(StorageError) {
        let manager = FileManager.default
        if manager.fileExists(atPath: url.path) {
            throw StorageError(.alreadyExists, "a file already exists at the path of the backup; choose another path")
        }
        // The name is unique, so existing files next to the copy are not affected.
        let folder = "\(url.path).\(UUID().uuidString).partial", partial = folder + "/copy"
        guard mkdir(folder, 0o700) == 0 else {
            throw StorageError(
                .permissionDenied, "the backup cannot be written; check that its folder exists and is writable",
                cause: POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO))
        }
        defer { try? manager.removeItem(atPath: folder) }
        try write(partial)
        do {
            try synchronize(partial)
            try manager.moveItem(atPath: partial, toPath: url.path)
            AtomicFile.synchroniseFolder(of: url.path)
        } catch {
            throw StorageError(.inputOutput, "writing the backup failed; check the free space of the disk and try again", cause: error)
        }
    }

    /// Waits until the contents of a file are on the disk.
    private static func synchronize(_ path: String) throws {
        let file = PolystoreFoundation.open(path, O_RDWR | O_CLOEXEC)
        defer { if file >= 0 { PolystoreFoundation.close(file) } }
        guard file >= 0, fsync(file) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    }

    /// Returns the total size of the existing files among `paths` in bytes, or nil if none exists.
    public static func size(of paths: [String]) -> Int? {
        // `FileManager` has numbers of another type in programs without all of Foundation.
        let sizes = paths.compactMap { path in
            var status = stat()
            return lstat(path, &status) == 0 ? Int(status.st_size) : nil
        }
        return sizes.isEmpty ? nil : sizes.reduce(0, +)
    }
}
