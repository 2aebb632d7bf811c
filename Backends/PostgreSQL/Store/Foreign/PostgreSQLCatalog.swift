#if PostgreSQL
internal import PolystoreStorage

/// The table ownership of a schema of the server: the program that created the tables, and how Polystore uses them.
public enum PostgreSQLCatalog: String, Sendable, Hashable, CaseIterable {
    /// Polystore created the tables. The schema is a store.
    case own
    /// Another program created the tables. They are read as entities and their references as relationships. The store is read-only.
    case foreign
    /// Another program created the tables and continues to use them. They are read and written in place, which requires that each has a
    /// primary key of a single integer.
    ///
    /// Polystore keeps its own data beside the tables, under names that begin with `polystore_`, triggers included; `erase()` removes it.
    case inPlace = "inplace"

    /// Creates the value from the option `x-catalog` of a URL.
    init(_ url: StoreURL) throws(StorageError) {
        let name = url.option("x-catalog") ?? Self.own.rawValue, names = Self.allCases.map(\.rawValue)
        guard let catalog = Self(rawValue: name) else {
            throw StorageError(
                .invalidConfiguration,
                "the option x-catalog must be one of \(names.joined(separator: ", "))\(Suggestion.nearest(name, in: names))")
        }
        self = catalog
    }

    /// The schema that is used when none is named.
    var defaultSchema: String { self == .own ? "polystore" : "public" }

    /// Runs `open` and extends the error for a schema without a store with the options that can read its tables.
    static func hinting<Result>(_ open: () throws(StorageError) -> Result) throws(StorageError) -> Result {
        do throws(StorageError) { return try open() } catch {
            guard error.code == .notFound, error.cause == nil else { throw error }
            throw StorageError(
                .notFound,
                "\(error.message); the option x-catalog=foreign reads the tables of any program, x-catalog=inplace writes them too")
        }
    }
}
#endif
