package import PolystoreStorage

/// The setup of the store's own tables: it finds them or creates them.
package protocol SQLSetup {
    associatedtype Connection: SQLConnection

    /// The statement that begins the transaction in which the tables are created.
    static var beginning: String { get }

    var connection: Connection { get }
    /// The error for a database without a store.
    var absent: StorageError { get }

    /// Reads the stored metadata, as texts by name; empty where there is none.
    func readEntries() throws(StorageError) -> [String: String]
    /// Creates all tables.
    func create(_ metadata: StoreMetadata) throws(StorageError)
    /// Runs `work` while no other program can create the same tables.
    func alone<Result>(_ work: () throws(StorageError) -> Result) throws(StorageError) -> Result
}

extension SQLSetup {
    /// Returns the metadata, and whether this call has created it.
    package func metadata(_ request: OpenRequest) throws(StorageError) -> (StoreMetadata, wasCreated: Bool) {
        if let found = try read() { return (found, false) }
        guard let schema = request.schema, request.createIfMissing, !request.readOnly else { throw absent }
        return try alone { () throws(StorageError) in
            try connection.inTransaction(Self.beginning) { () throws(StorageError) in
                // Another program may have created it in the meantime.
                if let found = try read() { return (found, false) }
                let metadata = StoreMetadata(new: schema)
                try create(metadata)
                try connection.setMetadata(metadata.entries)
                for (name, bytes) in request.notes { try connection.setNote(name, bytes) }
                return (metadata, true)
            }
        }
    }

    private func read() throws(StorageError) -> StoreMetadata? {
        let entries = try readEntries()
        return entries.isEmpty ? nil : try StoreMetadata(entries: entries)
    }

    /// Returns the metadata of an existing store, as texts by name.
    package func entries() throws(StorageError) -> [String: String] {
        let entries = try readEntries()
        if entries.isEmpty { throw absent }
        return entries
    }
}
