internal import Foundation
internal import Polystore
internal import PolystoreCatalog
internal import PolystoreStorage
internal import PolystoreTransfer

/// The target of a transfer before anything is written to it.
struct TransferTarget {
    private let text: String
    private let url: StoreURL
    private let storage: any StorageInterface

    /// The target as text, without its password.
    var redacted: String { url.redacted }

    init(_ text: String) throws(StorageError) {
        self.text = text
        url = try Stores.catalog.url(for: text)
        storage = try Stores.catalog.store(at: url)
    }

    /// Returns why the target cannot take a copy of a store; nil if nothing is known that prevents it. Only reads.
    ///
    /// - Throws: Errors that say nothing about the target, such as a lost connection.
    func obstacle(to source: Stores.Opened) throws(StorageError) -> StorageError? {
        let access = storage.ability((any ForeignStorage).self)?.foreignAccess
        if access == .readOnly { return .isForeign }
        if let path = storage.ability((any LocalStorage).self)?.fileURL.path, !url.place.isEmpty {
            let sourcePath = source.store.ability((any LocalStorage).self)?.fileURL.path
            if let file = Stores.identity(path), file == sourcePath.flatMap(Stores.identity) {
                return StorageError(.invalidConfiguration, "the source and the target are the same store; choose a new target")
            }
            let place = NewPlace(path)
            if let problem = place.problem { return StorageError(.notFound, problem) }
            if place.isFree {
                if access == nil { return nil }
                return StorageError(.notFound, "there is no database at this path, and none is created that is used in place")
            }
        }
        do throws(StorageError) {
            let target = try Stores.open(text)
            defer { target.close() }
            try check(target, source.schema)
            return nil
        } catch {
            if error.code == .notFound, access == nil { return nil }
            if error.isRetryable || error.code == .cancelled { throw error }
            return error
        }
    }

    private func check(_ target: Stores.Opened, _ schema: Schema) throws(StorageError) {
        try TransferEngine.check(target.store.schema, takes: schema)
        let reader = try target.store.beginRead(ReadOptions(limit: Interruption.limit))
        defer { reader.end() }
        try Peers(reader).checkIsAlone()
        try Contents(reader).checkIsEmpty()
    }

    /// The path of a file or folder that is created if it is missing.
    private struct NewPlace {
        /// Whether nothing is there, except perhaps an empty file, which a store takes as its own.
        var isFree = false
        /// Why nothing can be created or opened there.
        var problem: String?

        init(_ path: String) {
            var link = stat(), file = stat()
            let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
            if lstat(path, &link) == 0 {
                if stat(path, &file) != 0 {
                    problem = "\(path) is a symbolic link to a file that does not exist"
                } else {
                    isFree = file.st_mode & S_IFMT == S_IFREG && file.st_size == 0
                    if access(path, W_OK) != 0 { problem = "\(path) cannot be written; check its permissions" }
                }
            } else if errno != ENOENT {
                problem = "\(path) cannot be reached: \(String(cString: strerror(errno)))"
            } else if stat(folder, &file) != 0 {
                problem = "the folder \(folder) does not exist; create it first"
            } else if file.st_mode & S_IFMT != S_IFDIR {
                problem = "\(folder) is not a folder"
            } else if access(folder, W_OK | X_OK) != 0 {
                problem = "nothing can be created in the folder \(folder); check its permissions"
            } else {
                isFree = true
            }
        }
    }
}
