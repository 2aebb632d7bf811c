internal import PolystoreStorage

/// A transaction inside another one: it commits by keeping its savepoint, and ends by going back to it.
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
