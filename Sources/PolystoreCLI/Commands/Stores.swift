internal import Foundation
internal import Polystore
internal import PolystoreCatalog
internal import PolystoreStorage

/// Opens the stores that a command names.
enum Stores {
    /// The kinds of store that the program knows.
    @TaskLocal static var catalog = StoreCatalog.standard

    /// A store that is open.
    struct Opened {
        let store: OpenStore
        let url: StoreURL

        var state: StorageState { store.state }
        var schema: Schema { store.schema }
        /// What of a database of another program is left out or read otherwise.
        var remarks: [String] { store.ability((any ForeignStorage).self)?.remarks ?? [] }
        func close() { try? store.close() }
        /// Looks for damage, where the store can.
        func check() throws(StorageError) { try store.ability((any CheckedStorage).self)?.check() }
    }

    /// Opens what is there.
    static func open(_ text: String, readOnly: Bool = true) throws(StorageError) -> Opened {
        let url = try catalog.url(for: text)
        let store = try catalog.store(at: url)
        return Opened(
            store: try OpenStore(opening: store, OpenRequest(schema: nil, createIfMissing: false, readOnly: readOnly)), url: url)
    }

    /// Opens a store, making it with a schema where it is missing.
    static func create(_ text: String, _ schema: Schema) throws(StorageError) -> Opened {
        let url = try catalog.url(for: text)
        let store = try catalog.store(at: url)
        return Opened(store: try OpenStore(opening: store, OpenRequest(schema: schema)), url: url)
    }

    /// Removes a store that was made for work that then failed, so that nothing is half written. What may have been committed stays.
    static func remove(_ opened: Opened, after error: any Error) {
        let isCommitted = [.commitOutcomeUnknown, .commitPending, .commitIncomplete].contains((error as? StorageError)?.code)
        if opened.state.wasCreated, !isCommitted { try? opened.store.erase() } else { opened.close() }
    }

    /// Refuses an output that is a file of the store itself, under whatever name.
    static func checkIsNoPart(_ path: String, of opened: Opened) throws(StorageError) {
        func identity(_ path: String) -> [UInt64]? {
            var status = stat()
            return stat(path, &status) == 0 ? [UInt64(status.st_dev), UInt64(status.st_ino)] : nil
        }
        func place(_ path: String) -> String { URL(fileURLWithPath: path).standardizedFileURL.resolvingSymlinksInPath().path }
        guard let file = opened.store.ability((any LocalStorage).self)?.fileURL.path else { return }
        // Those that are not there now are made when the store is next used.
        let parts = ["", "-wal", "-shm", "-journal", "-lock", "/data.mdb", "/lock.mdb"].map { place(file + $0) }
        let output = identity(path)
        if parts.contains(place(path)) || output != nil && parts.contains(where: { identity($0) == output }) {
            throw StorageError(.invalidConfiguration, "\(path) is a file of the store itself; write to another one")
        }
    }

    /// The text of a file.
    static func text(_ path: String) throws(StorageError) -> String {
        let data = try Stores.data(path, atMost: longestText)
        guard let text = String(data: data, encoding: .utf8) else {
            throw StorageError(.invalidConfiguration, "\(path): the file is no UTF-8 text")
        }
        return text
    }

    /// The most bytes of a model or a mapping.
    static let longestText = 16 << 20

    /// The contents of a file.
    static func data(_ path: String, atMost most: Int? = nil) throws(StorageError) -> Data {
        do throws(RegularFile.Problem) { return try RegularFile.data(path, atMost: most) } catch {
            throw StorageError(
                error == .tooLarge ? .limitExceeded : error == .unreadable ? .permissionDenied : .notFound, "\(path): \(error.sentence)")
        }
    }

    /// The schema of a model file.
    static func model(_ path: String) throws(StorageError) -> Schema {
        let text = try text(path)
        let schema: Schema
        do throws(SchemaError) { schema = try Schema(json: text) } catch {
            throw StorageError(.invalidConfiguration, "\(path): \(error)", cause: error)
        }
        try check(schema, path)
        return schema
    }

    /// What only objects need, such as the patterns of texts, is wrong now too and not when a program starts.
    static func check(_ schema: Schema, _ path: String) throws(StorageError) {
        do throws(StorageError) { _ = try DataStack(schema: schema) } catch {
            throw StorageError(error.code, "\(path): \(error.message)", cause: error)
        }
    }
}

/// Whether an interruption was asked for.
enum Interruption {
    nonisolated(unsafe) private static var wasAsked: sig_atomic_t = 0

    /// Watches for SIGINT and SIGTERM; a flag of the atomic signal type is all that a handler may touch.
    static func watch() {
        signal(SIGINT) { _ in Interruption.wasAsked = 1 }
        signal(SIGTERM) { _ in Interruption.wasAsked = 1 }
        // Whoever started the program from a thread that takes no signals has passed that on.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGINT)
        sigaddset(&signals, SIGTERM)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    }

    static var isAsked: Bool { wasAsked != 0 }
}
