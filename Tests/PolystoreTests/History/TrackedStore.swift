import Foundation
import PolystoreStorage
import RawSessions
import Synchronization

/// A store that counts the sessions that begin, and that can refuse a watch or a read or let who reads wait. The commits of the author
/// "future" are dated a year ahead.
final class TrackedStore: ForwardingStore, ChangeNotifyingStorage {
    static let storeType = "tracked"

    private struct State: Sendable {
        var reads = 0
        var writes = 0
        var isHeld = false
        var held = 0
        var refusesWatches = false
        var refusesReads = false
    }

    let base: any StorageInterface
    /// Whether it does not tell what others commit.
    private let isSilent: Bool
    private let state = Mutex(State())
    private let gate = DispatchSemaphore(value: 0)

    init(_ base: any StorageInterface, isSilent: Bool = false) {
        self.base = base
        self.isSilent = isSilent
    }

    var reads: Int { state.withLock { $0.reads } }
    var writes: Int { state.withLock { $0.writes } }
    /// The number of those that wait to read.
    var held: Int { state.withLock { $0.held } }

    var refusesWatches: Bool {
        get { state.withLock { $0.refusesWatches } }
        set { state.withLock { $0.refusesWatches = newValue } }
    }

    var refusesReads: Bool {
        get { state.withLock { $0.refusesReads } }
        set { state.withLock { $0.refusesReads = newValue } }
    }

    /// From now on who begins to read waits.
    func hold() { state.withLock { $0.isHeld = true } }

    /// Lets all read.
    func release() {
        let count = state.withLock { state in
            defer { state.held = 0 }
            state.isHeld = false
            return state.held
        }
        for _ in 0..<count { gate.signal() }
    }

    var capabilities: StorageCapabilities {
        var capabilities = base.capabilities
        if isSilent { capabilities.supported.remove(.remoteChanges) }
        return capabilities
    }

    func beginRead(_ options: ReadOptions) throws(StorageError) -> any StorageReader {
        let waits = state.withLock { state in
            state.reads += 1
            if state.isHeld { state.held += 1 }
            return state.isHeld
        }
        if waits { gate.wait() }
        if refusesReads { throw StorageError(.connectionLost, "the store does not answer") }
        return try base.beginRead(options)
    }

    func beginWrite(_ options: WriteOptions) throws(StorageError) -> any StorageWriter {
        state.withLock { $0.writes += 1 }
        return Writer(try base.beginWrite(options))
    }

    private final class Writer: ForwardingWriter {
        let writer: any StorageWriter

        init(_ writer: any StorageWriter) { self.writer = writer }

        func commit(_ record: CommitRecord) throws(StorageError) -> HistoryToken? {
            var record = record
            if record.author == "future" { record.time = Int64((Date().timeIntervalSince1970 + 365 * 86_400) * 1_000_000) }
            return try writer.commit(record)
        }
    }

    func watchChanges(_ handler: @escaping @Sendable (ChangeSignal) -> Void) throws(StorageError) -> (any ChangeWatch)? {
        if refusesWatches { throw StorageError(.connectionLost, "the store does not answer") }
        if isSilent { return nil }
        return try base.ability((any ChangeNotifyingStorage).self)?.watchChanges(handler)
    }
}
