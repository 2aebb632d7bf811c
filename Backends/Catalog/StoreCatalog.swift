internal import Foundation
public import PolystoreStorage

#if SQLite
internal import PolystoreSQLite
#endif
#if PostgreSQL
internal import PolystorePostgreSQL
#endif
#if LMDB
internal import PolystoreLMDB
#endif
internal import PolystoreInMemory

/// Opens stores by URL: the four of this package, and those that a program registers.
///
/// A catalog is a value; nothing is registered globally.
/// ```swift
/// var catalog = StoreCatalog.standard
/// catalog.register(scheme: "toy") { url, configuration in ToyStore(url: url, configuration: configuration) }
/// ```
public struct StoreCatalog: StoreOpener {
    /// Makes a store from a URL and a configuration; the store is not yet open.
    public typealias Open = @Sendable (StoreURL, String?) throws(StorageError) -> any StorageInterface

    private var openers: [String: Open] = [:]

    /// A catalog without stores.
    public init() {}

    /// The stores that this package was built with.
    public static var standard: StoreCatalog {
        var catalog = StoreCatalog()
        catalog.register(scheme: "memory") { url, configuration throws(StorageError) in
            try InMemoryStore(url: url, configuration: configuration)
        }
        #if SQLite
        catalog.register(scheme: "sqlite") { url, configuration throws(StorageError) in
            try SQLiteStore(url: url, configuration: configuration)
        }
        #endif
        #if LMDB
        catalog.register(scheme: "lmdb") { url, configuration throws(StorageError) in
            try LMDBStore(url: url, configuration: configuration)
        }
        #endif
        #if PostgreSQL
        catalog.register(scheme: "postgresql") { url, configuration throws(StorageError) in
            try PostgreSQLStore(url: url, configuration: configuration)
        }
        #endif
        return catalog
    }

    /// Adds a kind of store, or replaces one.
    public mutating func register(scheme: String, open: @escaping Open) { openers[scheme] = open }

    /// The schemes that can be opened, in alphabetical order.
    public var schemes: [String] { openers.keys.sorted() }

    /// The store that a URL names, not yet opened.
    ///
    /// - Throws: `invalidConfiguration` for a scheme that is not known, with the nearest one.
    public func store(at url: StoreURL, configuration: String? = nil) throws(StorageError) -> any StorageInterface {
        if let open = openers[url.scheme] { return try open(url, configuration) }
        let traits = ["sqlite": "SQLite", "lmdb": "LMDB", "postgresql": "PostgreSQL"]
        if let trait = traits[url.scheme] {
            throw StorageError(.unsupported, "this program was built without the package trait \(trait), which \(url.scheme): stores need")
        }
        throw StorageError(
            .invalidConfiguration,
            "no store is known under \"\(url.scheme.excerpt()):\"\(Suggestion.nearest(url.scheme, in: schemes)) (known: \(schemes.joined(separator: ", ")))"
        )
    }

    /// The store URL of a text that people type: a URL, or the path of a file whose first bytes tell what it is.
    ///
    /// - Throws: `invalidConfiguration` for a text that is no URL and no file that is there.
    public func url(for text: String) throws(StorageError) -> StoreURL {
        guard FileHead.isFile(text) else { return try StoreURL(text) }
        let head = try FileHead.bytes(text)
        let path = text.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? text
        if head.starts(with: "SQLite format 3\0".utf8) { return try StoreURL("sqlite:\(path)") }
        if head.count >= 20, head[16..<20].elementsEqual([0xde, 0xc0, 0xef, 0xbe]) { return try StoreURL("lmdb:\(path)") }
        throw StorageError(
            .notADatabase, "the file is neither a SQLite nor an LMDB database; name one, or write the kind before its path (sqlite:, lmdb:)"
        )
    }
}

/// The first bytes of a file, which may be a database that this process has open.
private enum FileHead {
    private static let count = 32

    /// Whether a regular file is at a path: to open others, such as pipes, can wait for ever.
    static func isFile(_ path: String) -> Bool {
        var state = stat()
        return stat(path, &state) == 0 && state.st_mode & S_IFMT == S_IFREG
    }

    /// To open a SQLite database beside the engine and close it would drop the engine's locks on it, so the engine reads the file where it is
    /// part of the program.
    static func bytes(_ path: String) throws(StorageError) -> [UInt8] {
        #if SQLite
        return try SQLiteStore.head(of: path, count: count)
        #else
        guard let file = try? RegularFile.open(path) else { throw StorageError(.permissionDenied, "the file may not be opened") }
        defer { try? file.close() }
        return (try? file.read(upToCount: count)).flatMap { $0 }.map([UInt8].init) ?? []
        #endif
    }
}
