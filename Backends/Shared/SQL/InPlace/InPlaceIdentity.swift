package import Foundation
package import PolystoreStorage

/// What lies beside the tables of another program says of itself, in the table `polystore_inplace`.
package enum InPlaceIdentity {
    /// The format that this version writes.
    package static let format = 2

    /// The identity of the store.
    ///
    /// - Parameter entries: The rows of the table; none where the tables were never written to in place.
    /// - Returns: Nil for no rows.
    package static func storeID(_ entries: [String: String]) throws(StorageError) -> UUID? {
        if entries.isEmpty { return nil }
        guard let format = Int(entries["format"] ?? ""), let id = UUID(uuidString: entries["store"] ?? "") else {
            throw StorageError(.corrupted, "what lies beside the tables, polystore_inplace, has no valid format and identity")
        }
        if format <= Self.format { return id }
        throw StorageError(
            .unsupported, "what lies beside the tables has format \(format); this version writes \(Self.format): update the program")
    }
}
