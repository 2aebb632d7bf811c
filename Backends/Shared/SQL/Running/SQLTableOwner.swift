package import PolystoreStorage

/// The table ownership of a store, and what depends on it: its own tables, or those of another program, which are only read or used in
/// place.
package protocol SQLTableOwner: Sendable {
    /// The capabilities of the store.
    var capabilities: Set<StorageCapabilities.Capability> { get }
    /// The error for a write to a store that is read-only.
    var refusal: StorageError { get }
    /// Whether the rows have the format that Polystore writes.
    var isPolystore: Bool { get }

    /// Throws if the tables are not Polystore's own.
    func checkOwn() throws(StorageError)
}

extension SQLTableOwner {
    package var refusal: StorageError { StorageError(.readOnly, "the store was opened read-only") }
    package var isPolystore: Bool { false }
}

/// The result of opening a store.
package struct SQLOpening<Core: SQLCore> {
    /// The state that its sessions share.
    package let core: Core
    /// Whether the store refuses changes.
    package let isReadOnly: Bool
    /// The remarks on parts of another program's tables that are left out or read differently.
    package let remarks: [CatalogRemark]
    private let wasCreated: Bool

    package init(_ core: Core, isReadOnly: Bool, wasCreated: Bool = false, remarks: [CatalogRemark] = []) {
        self.core = core
        self.isReadOnly = isReadOnly
        self.wasCreated = wasCreated
        self.remarks = remarks
    }

    /// The state of the store that is returned to the program.
    package var state: StorageState {
        let metadata = core.metadata
        return StorageState(
            storeID: metadata.storeID, schema: metadata.schema, formatVersion: metadata.formatVersion, wasCreated: wasCreated,
            isReadOnly: isReadOnly)
    }
}
