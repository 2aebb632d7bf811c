internal import PolystoreStorage

/// A switch that lets other work precede one of the write sessions of a store.
final class PrecededWrites: Sendable {
    private let next = SharedValue((left: 0, work: Work?.none))

    typealias Work = @Sendable () -> Void

    /// Runs work before the write session that follows `count` others.
    func arm(after count: Int, _ work: @escaping Work) { next.withLock { $0 = (count, work) } }

    /// Returns a store that forwards to another one.
    func store(_ base: any StorageInterface) -> any StorageInterface { Store(base, self) }

    private func pass() {
        let work = next.withLock { next -> Work? in
            guard next.left == 0 else {
                next.left -= 1
                return nil
            }
            defer { next.work = nil }
            return next.work
        }
        work?()
    }

    private final class Store: ForwardingStore {
        static let storeType = "preceded"
        let base: any StorageInterface
        private let writes: PrecededWrites

        init(_ base: any StorageInterface, _ writes: PrecededWrites) {
            self.base = base
            self.writes = writes
        }

        func beginWrite(_ options: WriteOptions) throws(StorageError) -> any StorageWriter {
            writes.pass()
            return try base.beginWrite(options)
        }
    }
}
