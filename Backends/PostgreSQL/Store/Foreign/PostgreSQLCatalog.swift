#if PostgreSQL
internal import PolystoreStorage

/// Who made the tables of a schema of the server.
public enum PostgreSQLCatalog: String, Sendable, Hashable, CaseIterable {
    /// Polystore: the schema is a store.
    case own
    /// Some other program: tables are read as entities, references as relationships. The store is read-only.
    case foreign
    /// Some other program, which goes on using them: read and written where they lie, if each has a primary key of one whole number.
    ///
    /// What Polystore needs lies beside the tables under names that begin with `polystore_`, triggers included; `erase()` removes it.
    case inPlace = "inplace"

    /// What the option `x-catalog` of a URL says.
    init(_ url: StoreURL) throws(StorageError) {
        let name = url.option("x-catalog") ?? Self.own.rawValue, names = Self.allCases.map(\.rawValue)
        guard let catalog = Self(rawValue: name) else {
            throw StorageError(
                .invalidConfiguration, "x-catalog is \(names.joined(separator: ", "))\(Suggestion.nearest(name, in: names))")
        }
        self = catalog
    }

    /// The schema that is meant when none is named.
    var defaultSchema: String { self == .own ? "polystore" : "public" }

    /// Adds to the error for a schema without a store how its tables can be read nevertheless.
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
