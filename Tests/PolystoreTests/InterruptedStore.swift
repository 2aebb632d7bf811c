import PolystoreStorage
import RawSessions

/// A store whose next commit does not happen, as if the process had ended before it.
final class InterruptedStore: ForwardingStore, @unchecked Sendable {
    static let storeType = "interrupted"
    let base: any StorageInterface
    /// Set by the one thread of a test.
    var isArmed = false
    /// Whether all its commits are interrupted.
    var isBroken = false

    init(_ base: any StorageInterface) { self.base = base }

    func beginWrite(_ options: WriteOptions) throws(StorageError) -> any StorageWriter {
        Writer(try base.beginWrite(options)) { [unowned self] in
            defer { isArmed = false }
            return isArmed || isBroken
        }
    }

    private final class Writer: ForwardingWriter {
        let writer: any StorageWriter
        private let isInterrupted: () -> Bool

        init(_ writer: any StorageWriter, _ isInterrupted: @escaping () -> Bool) {
            self.writer = writer
            self.isInterrupted = isInterrupted
        }

        func commit(_ record: CommitRecord) throws(StorageError) -> HistoryToken? {
            if isInterrupted() { throw StorageError(.inputOutput, "interrupted") }
            return try writer.commit(record)
        }
    }
}
