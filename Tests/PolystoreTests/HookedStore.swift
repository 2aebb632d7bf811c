import PolystoreStorage
import Synchronization

/// A store that says what is about to be done with it, so that a test can let that fail, or do something of its own in the midst of it.
final class HookedStore: ForwardingStore, SynchronizingStorage {
    enum Event: Sendable, Hashable {
        case beginRead, beginWrite, apply, commit, committed, synchronize
    }

    typealias Hook = @Sendable (Event) throws(StorageError) -> Void

    static let storeType = "hooked"
    let base: any StorageInterface
    private let hook = Mutex<Hook?>(nil)

    init(_ base: any StorageInterface) { self.base = base }

    func setHook(_ hook: Hook?) { self.hook.withLock { $0 = hook } }

    /// Lets the next commit end with an error, as if it had not happened or after it has.
    func failOnce(_ code: StorageError.Code, at event: Event = .commit) {
        let isArmed = Switch()
        setHook { happened throws(StorageError) in if happened == event, isArmed.turnOff() { throw StorageError(code, "a failure") } }
    }

    fileprivate func say(_ event: Event) throws(StorageError) {
        let hook = hook.withLock { $0 }
        try hook?(event)
    }

    func beginRead(_ options: ReadOptions) throws(StorageError) -> any StorageReader {
        try say(.beginRead)
        return try base.beginRead(options)
    }

    func beginWrite(_ options: WriteOptions) throws(StorageError) -> any StorageWriter {
        try say(.beginWrite)
        return Writer(try base.beginWrite(options), self)
    }

    func synchronize() throws(StorageError) {
        try say(.synchronize)
        try base.ability((any SynchronizingStorage).self)?.synchronize()
    }

    private final class Switch: Sendable {
        private let isOn = Mutex(true)

        func turnOff() -> Bool {
            isOn.withLock { isOn in
                defer { isOn = false }
                return isOn
            }
        }
    }

    private final class Writer: ForwardingWriter {
        let writer: any StorageWriter
        private let store: HookedStore

        init(_ writer: any StorageWriter, _ store: HookedStore) {
            self.writer = writer
            self.store = store
        }

        func apply(_ changes: ChangeSet) throws(StorageError) {
            try store.say(.apply)
            try writer.apply(changes)
        }

        func commit(_ record: CommitRecord) throws(StorageError) -> HistoryToken? {
            try store.say(.commit)
            let token = try writer.commit(record)
            try store.say(.committed)
            return token
        }
    }
}
