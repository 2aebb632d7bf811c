package import PolystoreStorage

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
