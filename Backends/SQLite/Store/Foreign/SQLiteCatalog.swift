#if SQLite
public import PolystoreFoundation
internal import PolystoreStorage

/// The table ownership of a SQLite file: the program that created the tables, and how Polystore uses them.
public enum SQLiteCatalog: Sendable, Hashable {
    /// Polystore created the tables. The file is a store.
    case own
    /// Another program created the tables. They are read as entities and their references as relationships. The store is read-only.
    case foreign
    /// Another program created the tables and continues to use them. They are read and written in place, which requires that each has a
    /// primary key of a single integer.
    ///
    /// Polystore keeps its own data beside the tables, under names that begin with `polystore_`, triggers included; `erase()` removes it.
    case inPlace
    /// Core Data created the tables. Entities are read from its layout. The store is read-only.
    ///
    /// With the data model (`X.xcdatamodeld` or `X.xcdatamodel`), names, types and relationships are those of the model. Without it, all
    /// attributes of a hierarchy belong to its root, names are in upper case, and to-one references are integers.
    case coreData(model: URL? = nil)
}

extension SQLiteCatalog {
    private static let names = ["own", "foreign", "inplace", "coredata"]

    /// Creates the value from the options `catalog` and `model` of a URL.
    init(_ url: StoreURL) throws(StorageError) {
        let name = url.option("catalog") ?? "own", model = url.option("model")
        if model != nil, name != "coredata" {
            throw StorageError(.invalidConfiguration, "the option model requires catalog=coredata")
        }
        switch name {
        case "own": self = .own
        case "foreign": self = .foreign
        case "inplace": self = .inPlace
        case "coredata": self = .coreData(model: model.map(URL.init(fileURLWithPath:)))
        default:
            throw StorageError(
                .invalidConfiguration,
                "the option catalog must be one of \(Self.names.joined(separator: ", "))\(Suggestion.nearest(name, in: Self.names))")
        }
    }

    /// Runs `open` and extends the error for a file of another program with the options that can read it.
    static func hinting<Result>(_ open: () throws(StorageError) -> Result) throws(StorageError) -> Result {
        do throws(StorageError) { return try open() } catch {
            // An error with a cause means that the file is not a SQLite file at all.
            guard error.code == .notADatabase, error.cause == nil else { throw error }
            throw StorageError(
                .notADatabase,
                "\(error.message); the option catalog=foreign reads the tables of any program, catalog=inplace writes them too, "
                    + "catalog=coredata reads those of Core Data")
        }
    }
}
#endif
