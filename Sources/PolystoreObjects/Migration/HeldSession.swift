internal import PolystoreStorage

/// A transaction inside another one. Its commit releases its savepoint, and its end without a commit rolls back to it.
final class HeldSession: ForwardingWriter {
    let writer: any StorageWriter
    private var mark: Int?

    init(_ writer: any StorageWriter, savepoint: Int?) {
        self.writer = writer
        mark = savepoint
    }

    deinit { end() }

    func commit(_ record: CommitRecord) throws(StorageError) -> HistoryToken? {
        if let mark { try writer.release(mark) }
        mark = nil
        return nil
    }

    func end() {
        guard let mark else { return }
        self.mark = nil
        try? writer.rollback(to: mark)
        try? writer.release(mark)
    }
}
