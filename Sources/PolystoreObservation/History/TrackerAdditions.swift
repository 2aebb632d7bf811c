internal import PolystoreFoundation
internal import PolystoreObjects
internal import PolystoreStorage
internal import Synchronization

/// The positions in the histories of stores at the time when they were added to a stack, for a tracker that reads them later, and those up to
/// which it has read them.
///
/// Functions that tasks call are not inlined: decision 0038, "No lock is inlined where a task waits".
final class TrackerAdditions: StoreAdditionObserver {
    struct Addition: Sendable, Hashable {
        let store: UUID
        /// The newest token of the store; nil if it could not be read.
        var token: HistoryToken?
        /// Whether no transaction had a greater token already.
        var isSettled = false
        /// The offset of the tracker's consumer; nil if it was not registered.
        var offset: HistoryToken?
        /// Whether the store replaces another one, whose transactions its history does not have.
        var isReplacement = false
        /// Whether the tracker reports the transactions since then, because it was monitoring.
        var isAwaited = false

        /// Whether the history ends before that of another addition.
        fileprivate func ends(before other: Addition) -> Bool {
            guard let token, let otherToken = other.token else { return false }
            return token.position < otherToken.position
        }
    }

    private struct State: Sendable {
        var isMonitoring = false
        var additions: [UUID: Addition] = [:]
        var positions: [UUID: HistoryToken] = [:]
    }

    /// The name of the tracker's consumer.
    private let consumer: String
    private let state = Mutex(State())

    init(consumer: String) { self.consumer = consumer }

    /// Records that the tracker begins or ends monitoring.
    @inline(never) func setMonitoring(_ isMonitoring: Bool) { state.withLock { $0.isMonitoring = isMonitoring } }

    func willAdd(_ store: OpenStore, isReplacement: Bool) {
        guard store.capabilities.contains(.history) else { return }
        if isReplacement { noteReplacement(store.storeID) } else { note(store) }
    }

    /// Records a store that replaces another one: the tracker begins it with a gap.
    @inline(never) private func noteReplacement(_ store: UUID) {
        state.withLock { $0.additions[store] = Addition(store: store, isReplacement: true, isAwaited: true) }
    }

    /// Records the state of a store whose history is read later, from here on.
    @inline(never) func note(_ store: OpenStore) {
        let addition = (try? addition(of: store)) ?? Addition(store: store.storeID)
        state.withLock { state in
            // A store that was removed before the tracker has read it continues where it was added first, unless its history ends earlier.
            var noted = addition
            if let known = state.additions[store.storeID], !addition.ends(before: known) { noted = known }
            noted.isAwaited = noted.isAwaited || state.isMonitoring
            state.additions[store.storeID] = noted
        }
    }

    private func addition(of store: OpenStore) throws(StorageError) -> Addition {
        let reader = try store.beginRead()
        defer { reader.end() }
        return Addition(
            store: store.storeID, token: try HistoryScan.newest(reader), isSettled: try !reader.hasUnsettledHistory(),
            offset: try HistoryConsumers(reader).find(consumer)?.token)
    }

    /// Returns the addition of a store that was not read since then.
    @inline(never) func find(_ store: UUID) -> Addition? { state.withLock { $0.additions[store] } }

    /// Returns the token up to which a store was read; nil if it was never read.
    @inline(never) func position(of store: UUID) -> HistoryToken? { state.withLock { $0.positions[store] } }

    /// Records that a store was read.
    ///
    /// - Parameter addition: The addition after which it was read for the first time.
    @inline(never) func didRead(_ store: UUID, to token: HistoryToken, since addition: Addition?) {
        state.withLock { state in
            state.positions[store] = token
            if let addition, state.additions[store] == addition { state.additions[store] = nil }
        }
    }
}
