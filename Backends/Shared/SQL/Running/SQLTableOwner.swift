package import PolystoreStorage

/// Who made the tables of a store, and what depends on that: this library, or another program whose tables are only read or used in place.
package protocol SQLTableOwner: Sendable {
    /// What the store can do.
    var capabilities: Set<StorageCapabilities.Capability> { get }
    /// What writing to a store that is read-only throws.
    var refusal: StorageError { get }
    /// Whether the rows are as this library writes them.
    var isPolystore: Bool { get }

    /// Refuses what is done to tables of this library alone.
    func checkOwn() throws(StorageError)
}

extension SQLTableOwner {
    package var refusal: StorageError { StorageError(.readOnly, "the store was opened for reading only") }
    package var isPolystore: Bool { false }
}

/// What has become of opening a store.
package struct SQLOpening<Core: SQLCore> {
    /// What its sessions share.
    package let core: Core
    /// Whether changes are refused.
    package let isReadOnly: Bool
    /// What of the tables of another program is left out or read otherwise.
    package let remarks: [CatalogRemark]
    private let wasCreated: Bool

    package init(_ core: Core, isReadOnly: Bool, wasCreated: Bool = false, remarks: [CatalogRemark] = []) {
        self.core = core
        self.isReadOnly = isReadOnly
        self.wasCreated = wasCreated
        self.remarks = remarks
    }

    /// What the program learns of the store.
    package var state: StorageState {
        let metadata = core.metadata
        return StorageState(
            storeID: metadata.storeID, schema: metadata.schema, formatVersion: metadata.formatVersion, wasCreated: wasCreated,
            isReadOnly: isReadOnly)
    }
}
