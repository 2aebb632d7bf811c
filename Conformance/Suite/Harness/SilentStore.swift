internal import PolystoreStorage

/// A store that does what another one does, and does not tell what its transactions change.
final class SilentStore: StorageInterface {
    static let storeType = "silent"

    private let inner: any StorageInterface

    init(_ inner: any StorageInterface) { self.inner = inner }

    var configuration: String? { inner.configuration }
    var capabilities: StorageCapabilities { inner.capabilities }

    func open(_ request: OpenRequest) throws(StorageError) -> StorageState { try inner.open(request) }
    func beginRead(_ options: ReadOptions) throws(StorageError) -> any StorageReader { try inner.beginRead(options) }
    func beginWrite(_ options: WriteOptions) throws(StorageError) -> any StorageWriter { SilentWriter(try inner.beginWrite(options)) }
    func close() throws(StorageError) { try inner.close() }
    func erase() throws(StorageError) { try inner.erase() }
}

/// A write transaction without `recordedChanges`.
private final class SilentWriter: ForwardingWriter {
    let writer: any StorageWriter

    init(_ writer: any StorageWriter) { self.writer = writer }
}
