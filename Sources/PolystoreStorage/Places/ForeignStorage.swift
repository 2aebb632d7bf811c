/// A store that can read databases created by other programs.
public protocol ForeignStorage: StorageInterface {
    /// The use of a database of another program, which must exist; nil for a store that Polystore creates. Known before `open`.
    var foreignAccess: ForeignAccess? { get }

    /// The parts of a foreign database that are skipped or read differently from their declaration, one sentence each. Empty before `open`,
    /// and for a store that Polystore created.
    var remarks: [String] { get }

    /// The stored parts of a foreign database that are not read, as `table` or `table.column`. A copy lacks them. The remarks state the
    /// reasons.
    var losses: [String] { get }
}

extension StorageError {
    /// The error of writing to a foreign database.
    public static let isForeign = StorageError(
        .readOnly,
        "a foreign database is read-only; to change it, open it in place, or transfer it to a Polystore store (polystore transfer FROM TO)"
    )

    /// The error of changing the tables of a database that is used in place.
    public static let isNotOurs = StorageError(
        .unsupported,
        "Polystore does not change the tables of a database that is used in place; change them with the program that owns them, adapt the "
            + "model, and open the store again"
    )
}
