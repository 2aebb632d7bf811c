internal import PolystoreStorage

/// The sessions that a transaction or a read has open, one for each store, opened when a store is first touched.
final class SessionPool {
    /// Thrown away with all work so far when an earlier store is touched after a later one: the closure runs again and opens both in
    /// the fixed order, so that two transactions can never wait for each other.
    private(set) var wantsToStartAgainWith: Set<Int>?

    private let stack: StackCore
    private let options: WriteOptions?
    private var readers: [Int: any StorageReader] = [:]
    private var writers: [Int: any StorageWriter] = [:]
    private var isOpen = true
    /// The session that was asked for last: nearly always it is the next one too.
    @exclusivity(unchecked) private var last: (store: Int, reader: any StorageReader)?

    /// Sessions that read.
    init(readingFrom stack: StackCore) {
        self.stack = stack
        options = nil
    }

    /// Sessions that write; the stores in `stores` are opened at once, in order.
    init(writingTo stack: StackCore, _ options: WriteOptions, stores: Set<Int>) throws(StorageError) {
        self.stack = stack
        self.options = options
        for store in stores.sorted() { _ = try writer(store) }
    }

    /// The session of a store: the writer's in a write transaction.
    @inline(__always)
    func reader(_ store: Int) throws(StorageError) -> any StorageReader {
        if let last, last.store == store { return last.reader }
        return try findReader(store)
    }

    private func findReader(_ store: Int) throws(StorageError) -> any StorageReader {
        guard isOpen else { throw Self.ended }
        let reader: any StorageReader
        if options != nil {
            reader = try writer(store)
        } else if let known = readers[store] {
            reader = known
        } else {
            reader = try stack.store(store).beginRead()
            readers[store] = reader
        }
        last = (store, reader)
        return reader
    }

    /// The write session of a store.
    func writer(_ store: Int) throws(StorageError) -> any StorageWriter {
        guard isOpen, let options else { throw Self.ended }
        if let writer = writers[store] { return writer }
        if let last = writers.keys.max(), last > store {
            wantsToStartAgainWith = Set(writers.keys).union([store])
            throw StorageError(.serializationFailure, "an earlier store was touched late; the transaction starts again")
        }
        let writer = try stack.store(store).beginWrite(options)
        writers[store] = writer
        return writer
    }

    /// Commits the write sessions.
    func commit(_ record: CommitRecord) throws(StorageError) -> [Int: HistoryToken] {
        guard isOpen else { throw Self.ended }
        isOpen = false
        defer { endAll() }
        var tokens: [Int: HistoryToken] = [:]
        for (store, writer) in writers.sorted(by: { $0.key < $1.key }) { tokens[store] = try writer.commit(record) }
        return tokens
    }

    /// Ends all sessions; what was not committed is undone.
    func end() {
        isOpen = false
        endAll()
    }

    private func endAll() {
        last = nil
        for reader in readers.values { reader.end() }
        for writer in writers.values { writer.end() }
        readers.removeAll()
        writers.removeAll()
    }

    private static var ended: StorageError {
        StorageError(.storeClosed, "the transaction has ended; start another with perform or read")
    }
}
