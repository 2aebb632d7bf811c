/// A store that can read databases created by other programs.
public protocol ForeignStorage: StorageInterface {
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
        "a foreign database opens read-only; open it in place, or transfer it to a store of its own to change it (polystore transfer FROM TO)"
    )

    /// The error of changing the tables of a database that is used in place.
    public static let isNotOurs = StorageError(
        .unsupported,
        "the tables of a database that is used in place are changed by their owner; change them there, open the store anew and let the model follow"
    )
}
