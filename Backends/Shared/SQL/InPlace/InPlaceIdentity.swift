package import PolystoreFoundation
package import PolystoreStorage

/// The identity of an in-place store, from the table `polystore_inplace` beside the tables of another program.
package enum InPlaceIdentity {
    /// The format number that this version writes.
    package static let format = 2

    /// Returns the identity of the store.
    ///
    /// - Parameter entries: The rows of the table; empty if the tables were never written in place.
    /// - Returns: Nil for no rows.
    package static func storeID(_ entries: [String: String]) throws(StorageError) -> UUID? {
        if entries.isEmpty { return nil }
        guard let format = Int(entries["format"] ?? ""), let id = UUID(uuidString: entries["store"] ?? "") else {
            throw StorageError(
                .corrupted, "the table polystore_inplace contains no valid format and store identifier; restore the database from a backup")
        }
        if format <= Self.format { return id }
        throw StorageError(
            .unsupported,
            "the table polystore_inplace has format version \(format), but this program writes \(Self.format): update the program")
    }
}
