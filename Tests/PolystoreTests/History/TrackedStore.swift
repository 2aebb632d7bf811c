import Foundation
import PolystoreStorage
import Synchronization

/// A store that counts the sessions that begin, and that can refuse a watch or let who reads wait.
final class TrackedStore: StorageInterface {
    static let storeType = "tracked"

    private struct State: Sendable {
        var reads = 0
        var writes = 0
        var isHeld = false
        var held = 0
        var refusesWatches = false
    }

    private let inner: any StorageInterface
    /// Whether it does not tell what others commit.
    private let isSilent: Bool
    private let state = Mutex(State())
    private let gate = DispatchSemaphore(value: 0)

    init(_ inner: any StorageInterface, isSilent: Bool = false) {
        self.inner = inner
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

    var configuration: String? { inner.configuration }

    var capabilities: StorageCapabilities {
        var capabilities = inner.capabilities
        if isSilent { capabilities.supported.remove(.remoteChanges) }
        return capabilities
    }

    func open(_ request: OpenRequest) throws(StorageError) -> StorageState { try inner.open(request) }

    func beginRead(_ options: ReadOptions) throws(StorageError) -> any StorageReader {
        let waits = state.withLock { state in
            state.reads += 1
            if state.isHeld { state.held += 1 }
            return state.isHeld
        }
        if waits { gate.wait() }
        return try inner.beginRead(options)
    }

    func beginWrite(_ options: WriteOptions) throws(StorageError) -> any StorageWriter {
        state.withLock { $0.writes += 1 }
        return try inner.beginWrite(options)
    }

    func watchChanges(_ handler: @escaping @Sendable (ChangeSignal) -> Void) throws(StorageError) -> (any ChangeWatch)? {
        if refusesWatches { throw StorageError(.connectionLost, "the store does not answer") }
        if isSilent { return nil }
        return try inner.watchChanges(handler)
    }

    func close() throws(StorageError) { try inner.close() }
    func erase() throws(StorageError) { try inner.erase() }
}
