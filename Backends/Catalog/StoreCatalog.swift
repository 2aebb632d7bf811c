internal import PolystoreFoundation
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

/// A registry that opens stores by URL: the four stores of this package, and those that a program registers.
///
/// A registry is a value; nothing is registered globally.
/// ```swift
/// var catalog = StoreCatalog.standard
/// catalog.register(scheme: "toy") { url, configuration in ToyStore(url: url, configuration: configuration) }
/// ```
public struct StoreCatalog: StoreOpener {
    /// A function that creates a store from a URL and a configuration, without opening it.
    public typealias Open = @Sendable (StoreURL, String?) throws(StorageError) -> any StorageInterface

    private var openers: [String: Open] = [:]

    /// Creates a registry without stores.
    public init() {}

    /// The registry of the stores that this package was built with.
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

    /// Registers the stores of a scheme, in place of any earlier registration.
    public mutating func register(scheme: String, open: @escaping Open) { openers[scheme] = open }

    /// The registered schemes, in alphabetical order.
    public var schemes: [String] { openers.keys.sorted() }

    /// Returns the store of a URL, without opening it.
    ///
    /// - Throws: `invalidConfiguration` for an unknown scheme, with the most similar known one.
    public func store(at url: StoreURL, configuration: String? = nil) throws(StorageError) -> any StorageInterface {
        if let open = openers[url.scheme] { return try open(url, configuration) }
        let traits = ["sqlite": "SQLite", "lmdb": "LMDB", "postgresql": "PostgreSQL"]
        if let trait = traits[url.scheme] {
            throw StorageError(
                .unsupported, "this program was built without the package trait \(trait), which \(url.scheme): stores require")
        }
        throw StorageError(
            .invalidConfiguration,
            "no store has the scheme \"\(url.scheme.excerpt()):\"\(Suggestion.nearest(url.scheme, in: schemes)) (known: "
                + "\(schemes.joined(separator: ", ")))"
        )
    }

    /// Returns the store of a URL for work that reads or writes all objects once in the order of their keys, without opening it.
    ///
    /// Such work needs no page again, so that the page cache of SQLite would only be memory. A URL that says its size keeps it.
    package func store(forScanning url: StoreURL) throws(StorageError) -> any StorageInterface {
        guard url.scheme == "sqlite", url.option("cache") == nil,
            let small = try? StoreURL("\(url.text)\(url.options.isEmpty ? "?" : "&")cache=\(Self.scanKilobytes)"),
            let found = try? store(at: small.moved(to: url.place))
        else { return try store(at: url) }
        return found
    }

    /// The size of the page cache of each connection to SQLite that reads or writes everything once.
    private static let scanKilobytes = 16_384

    /// Returns the store URL of a text that a person typed: a URL, or the path of a file whose type the first bytes determine.
    ///
    /// - Throws: `invalidConfiguration` for a text that is no URL; `notFound` if it is the path of no file and has no scheme.
    public func url(for text: String) throws(StorageError) -> StoreURL {
        guard FileHead.isFile(text) else {
            if text.isEmpty || text.contains(":") { return try StoreURL(text) }
            throw StorageError(
                .notFound,
                "\(text.excerpt()) is neither an existing file nor a store URL, which begins with a scheme, as in sqlite:\(text.excerpt())")
        }
        let head = try FileHead.bytes(text)
        let path = PercentEncoding.path(text)
        if head.starts(with: "SQLite format 3\0".utf8) { return try StoreURL("sqlite:\(path)") }
        if head.count >= 20, head[16..<20].elementsEqual([0xde, 0xc0, 0xef, 0xbe]) { return try StoreURL("lmdb:\(path)") }
        throw StorageError(
            .notADatabase,
            "the file is neither a SQLite nor an LMDB database; choose another file, or write the scheme before its path (sqlite:, lmdb:)"
        )
    }
}

/// The first bytes of a file, which this process may have open as a database.
private enum FileHead {
    private static let count = 32

    /// Whether a path is a regular file. Opening another kind of file, such as a pipe, can block indefinitely.
    static func isFile(_ path: String) -> Bool {
        var state = stat()
        return stat(path, &state) == 0 && state.st_mode & S_IFMT == S_IFREG
    }

    /// Returns the first bytes of a file. Opening and closing a SQLite database outside of the engine would drop the engine's locks on it,
    /// so the engine reads the file if it is part of the program.
    static func bytes(_ path: String) throws(StorageError) -> [UInt8] {
        #if SQLite
        return try SQLiteStore.head(of: path, count: count)
        #else
        do throws(RegularFile.Problem) { return [UInt8](try RegularFile.head(path, count: count)) } catch {
            throw StorageError(.permissionDenied, "permission to open the file was denied; check its permissions")
        }
        #endif
    }
}
