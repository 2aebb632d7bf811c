internal import PolystoreStorage

/// A store that forwards to another one, but does not report the changes of its transactions.
final class SilentStore: ForwardingStore {
    static let storeType = "silent"

    let base: any StorageInterface

    init(_ base: any StorageInterface) { self.base = base }

    func beginWrite(_ options: WriteOptions) throws(StorageError) -> any StorageWriter { SilentWriter(try base.beginWrite(options)) }
}

/// A write transaction that does not know its own changes.
private final class SilentWriter: ForwardingWriter, ChangeRecordingWriter {
    let writer: any StorageWriter
    let recordedChanges: HistoryChanges? = nil

    init(_ writer: any StorageWriter) { self.writer = writer }
}
