internal import PolystoreStorage

/// A store over one session of a step. Its transactions do not end the session.
///
/// Unchecked, because only the thread of the step uses it.
final class SessionStore: StorageInterface, @unchecked Sendable {
    static let storeType = "migration"
    private let session: any StorageWriter
    /// The capabilities of the store that are usable within a transaction.
    let capabilities: StorageCapabilities

    init(_ session: WriteSession) {
        self.session = session.writer
        var capabilities = session.store.capabilities
        capabilities.supported.formIntersection([.savepoints, .rawSQL])
        self.capabilities = capabilities
    }

    var configuration: String? { nil }
    func open(_ request: OpenRequest) throws(StorageError) -> StorageState {
        throw StorageError(.alreadyExists, "the store is already open")
    }
    func beginRead(_ options: ReadOptions) throws(StorageError) -> any StorageReader { HeldSession(session, savepoint: nil) }
    func beginWrite(_ options: WriteOptions) throws(StorageError) -> any StorageWriter {
        HeldSession(session, savepoint: try session.savepoint())
    }
    func close() throws(StorageError) {}
    func erase() throws(StorageError) { throw StorageError(.unsupported, "a store cannot be erased during its migration") }
}
