package import PolystoreStorage

/// Finds or makes what a store of our own keeps beside its rows.
package protocol SQLSetup {
    associatedtype Connection: SQLConnection

    /// What begins the transaction in which the tables are made.
    static var beginning: String { get }

    var connection: Connection { get }
    /// The error for a database without a store.
    var absent: StorageError { get }

    /// The metadata that is there, as texts under names; empty where there is none.
    func readEntries() throws(StorageError) -> [String: String]
    /// Makes all tables.
    func create(_ metadata: StoreMetadata) throws(StorageError)
    /// Does work while no other program makes the same tables.
    func alone<Result>(_ work: () throws(StorageError) -> Result) throws(StorageError) -> Result
}

extension SQLSetup {
    /// The metadata, and whether it was made now.
    package func metadata(_ request: OpenRequest) throws(StorageError) -> (StoreMetadata, wasCreated: Bool) {
        if let found = try read() { return (found, false) }
        guard let schema = request.schema, request.createIfMissing, !request.readOnly else { throw absent }
        return try alone { () throws(StorageError) in
            try connection.inTransaction(Self.beginning) { () throws(StorageError) in
                // Another program may have made it meanwhile.
                if let found = try read() { return (found, false) }
                let metadata = StoreMetadata(new: schema)
                try create(metadata)
                try connection.setMetadata(metadata.entries)
                return (metadata, true)
            }
        }
    }

    private func read() throws(StorageError) -> StoreMetadata? {
        let entries = try readEntries()
        return entries.isEmpty ? nil : try StoreMetadata(entries: entries)
    }

    /// The metadata of a store that is there, as texts under names.
    package func entries() throws(StorageError) -> [String: String] {
        let entries = try readEntries()
        if entries.isEmpty { throw absent }
        return entries
    }
}
