internal import PolystoreStorage

/// A store that does what another one does, and does not tell what its transactions change.
final class SilentStore: ForwardingStore {
    static let storeType = "silent"

    let base: any StorageInterface

    init(_ base: any StorageInterface) { self.base = base }

    func beginWrite(_ options: WriteOptions) throws(StorageError) -> any StorageWriter { SilentWriter(try base.beginWrite(options)) }
}

/// A write transaction that does not know what it has changed.
private final class SilentWriter: ForwardingWriter, ChangeRecordingWriter {
    let writer: any StorageWriter
    let recordedChanges: HistoryChanges? = nil

    init(_ writer: any StorageWriter) { self.writer = writer }
}
