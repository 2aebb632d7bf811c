#if SQLite
public import Foundation
internal import PolystoreStorage

/// Who made the tables of a SQLite file.
public enum SQLiteCatalog: Sendable, Hashable {
    /// Polystore: the file is a store.
    case own
    /// Some other program: tables are read as entities, references as relationships. The store is read-only.
    case foreign
    /// Some other program, which goes on using them: read and written where they lie, if each has a primary key of one whole number.
    ///
    /// What Polystore needs lies beside the tables under names that begin with `polystore_`, triggers included; `erase()` removes it.
    case inPlace
    /// Core Data: entities are read as its layout has them. The store is read-only.
    ///
    /// With the data model (`X.xcdatamodeld` or `X.xcdatamodel`) names, types and relationships are those of the model. Without it, all
    /// attributes of a hierarchy belong to its root, names are in upper case, and references to one object are whole numbers.
    case coreData(model: URL? = nil)
}

extension SQLiteCatalog {
    private static let names = ["own", "foreign", "inplace", "coredata"]

    /// What the options `catalog` and `model` of a URL say.
    init(_ url: StoreURL) throws(StorageError) {
        let name = url.option("catalog") ?? "own", model = url.option("model")
        if model != nil, name != "coredata" {
            throw StorageError(.invalidConfiguration, "the option model belongs to catalog=coredata")
        }
        switch name {
        case "own": self = .own
        case "foreign": self = .foreign
        case "inplace": self = .inPlace
        case "coredata": self = .coreData(model: model.map(URL.init(fileURLWithPath:)))
        default:
            throw StorageError(
                .invalidConfiguration, "catalog is \(Self.names.joined(separator: ", "))\(Suggestion.nearest(name, in: Self.names))")
        }
    }

    /// Adds to the error for a file of another program how it can be read nevertheless.
    static func hinting<Result>(_ open: () throws(StorageError) -> Result) throws(StorageError) -> Result {
        do throws(StorageError) { return try open() } catch {
            // With a cause it is no SQLite file at all.
            guard error.code == .notADatabase, error.cause == nil else { throw error }
            throw StorageError(
                .notADatabase,
                "\(error.message); the option catalog=foreign reads the tables of any program, catalog=inplace writes them too, "
                    + "catalog=coredata reads those of Core Data")
        }
    }
}
#endif
