/// A store that can read databases that other programs made.
public protocol ForeignStorage: StorageInterface {
    /// What of a foreign database is left out or read otherwise than it is declared there, a sentence each; empty before `open`, and for a
    /// store of our own.
    var remarks: [String] { get }

    /// What is stored in a foreign database and not read, as `table` or `table.column`: a copy lacks it. The remarks say why.
    var losses: [String] { get }
}

extension StorageError {
    /// What writing to somebody else's database throws.
    public static let isForeign = StorageError(
        .readOnly,
        "a foreign database opens read-only; open it in place, or transfer it to a store of its own to change it (polystore transfer FROM TO)"
    )

    /// What changing the tables of a database throws that is used in place.
    public static let isNotOurs = StorageError(
        .unsupported,
        "the tables of a database that is used in place are changed by their owner; change them there, open the store anew and let the model follow"
    )
}
