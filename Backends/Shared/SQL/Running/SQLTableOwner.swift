package import PolystoreStorage

/// The table ownership of a store, and what depends on it: its own tables, or those of another program, which are only read or used in
/// place.
package protocol SQLTableOwner: Sendable {
    /// The capabilities of the store.
    var capabilities: Set<StorageCapabilities.Capability> { get }
    /// The error for a write to a store that is read-only.
    var refusal: StorageError { get }
    /// The use of tables of another program; nil for tables that Polystore creates.
    var foreignAccess: ForeignAccess? { get }

    /// Throws if the tables are not Polystore's own.
    func checkOwn() throws(StorageError)
}

extension SQLTableOwner {
    package var refusal: StorageError { StorageError(.readOnly, "the store was opened read-only") }
    /// Whether the rows have the format that Polystore writes.
    package var isPolystore: Bool { foreignAccess == nil }
}
