internal import PolystoreFoundation

/// The contract that every backend implements.
///
/// The contract is synchronous and works in batches. A session is confined to one thread at a time. The layer above checks and normalises
/// requests, so a store receives only valid ones. Every method throws `StorageError` and no other error, and no method ends the process.
/// `Conformance/Contract.md` defines the results of every store, clause by clause.
public protocol StorageInterface: AnyObject, Sendable {
    /// The kind of store, which is the scheme of its URLs: `memory`, `sqlite`, `postgresql`, `lmdb`.
    static var storeType: String { get }

    /// The name of the configuration whose entities the store keeps, or nil for all entities.
    var configuration: String? { get }

    /// Opens the store. Creates it if it is missing, or checks the stored schema.
    ///
    /// *Behavior*: if there is no data and `createIfMissing` is set, the store saves the schema of the request and creates its tables in
    /// one transaction. If there is data, the store compares the stored schema by hash; a different schema is `schemaMismatch`, which names
    /// the first difference (`SchemaDifference.first`). A request without a schema opens the stored one. A second `open` is
    /// `alreadyExists`.
    func open(_ request: OpenRequest) throws(StorageError) -> StorageState

    /// The capabilities of the store, which are known after `open`.
    var capabilities: StorageCapabilities { get }

    /// Begins a session that reads one committed snapshot. Readers never wait for writers.
    ///
    /// *Behavior*: throws `timeout` or `cancelled` when the limit of the options ends, even in the middle of a statement.
    func beginRead(_ options: ReadOptions) throws(StorageError) -> any StorageReader

    /// Begins a write transaction, serializable against all others. Waits for the write lock for at most the timeout of the options
    /// (`busy`).
    func beginWrite(_ options: WriteOptions) throws(StorageError) -> any StorageWriter

    /// Closes the store. Sessions that are still open fail with `storeClosed`. A second call does nothing.
    func close() throws(StorageError)

    /// Closes the store and removes all its data, including the files next to its main file. What the store has not made stays.
    ///
    /// - Throws: `readOnly` if the store refuses changes.
    func erase() throws(StorageError)
}
