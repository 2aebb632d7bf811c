internal import PolystoreStorage

/// A switch that lets one of several stores' commits fail before it has any effect.
final class FailingCommits: Sendable {
    private let left = SharedValue<Int?>(nil)

    /// Lets the commit fail that follows `count` others.
    func arm(after count: Int) { left.withLock { $0 = count } }

    /// Returns a store that forwards to another one, except for the failing commit.
    func store(_ base: any StorageInterface) -> any StorageInterface { Store(base, self) }

    fileprivate func pass() throws(StorageError) {
        let fails = left.withLock { left -> Bool in
            defer { left = left.flatMap { $0 > 0 ? $0 - 1 : nil } }
            return left == 0
        }
        if fails { throw StorageError(.inputOutput, "the commit fails in this case") }
    }

    private final class Store: ForwardingStore {
        static let storeType = "failing"
        let base: any StorageInterface
        private let failures: FailingCommits

        init(_ base: any StorageInterface, _ failures: FailingCommits) {
            self.base = base
            self.failures = failures
        }

        func beginWrite(_ options: WriteOptions) throws(StorageError) -> any StorageWriter {
            Writer(try base.beginWrite(options), failures)
        }
    }

    private final class Writer: ForwardingWriter {
        let writer: any StorageWriter
        private let failures: FailingCommits

        init(_ writer: any StorageWriter, _ failures: FailingCommits) {
            self.writer = writer
            self.failures = failures
        }

        func commit(_ record: CommitRecord) throws(StorageError) -> HistoryToken? {
            try failures.pass()
            return try writer.commit(record)
        }
    }
}
