internal import Foundation
internal import PolystoreObjects
internal import PolystoreStorage
internal import Synchronization

/// The positions in the histories of stores at the time when they were added to a stack, for a tracker that reads them later.
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

        /// Whether the history ends before that of another addition.
        fileprivate func ends(before other: Addition) -> Bool {
            guard let token, let otherToken = other.token else { return false }
            return token.position < otherToken.position
        }
    }

    /// The name of the tracker's consumer.
    private let consumer: String
    private let additions = Mutex<[UUID: Addition]>([:])

    init(consumer: String) { self.consumer = consumer }

    func willAdd(_ store: OpenStore, isReplacement: Bool) {
        guard store.capabilities.contains(.history) else { return }
        if isReplacement { noteUnknown(store.storeID) } else { note(store) }
    }

    /// Records a store whose history does not have the transactions of the store that it replaces: if the consumer is not registered in it,
    /// it begins with a gap.
    @inline(never) private func noteUnknown(_ store: UUID) { additions.withLock { $0[store] = Addition(store: store) } }

    /// Records the state of a store whose history is read later, from here on.
    @inline(never) func note(_ store: OpenStore) {
        let addition = (try? addition(of: store)) ?? Addition(store: store.storeID)
        additions.withLock { additions in
            // A store that was removed before the tracker has read it continues where it was added first, unless its history ends earlier.
            if let known = additions[store.storeID], !addition.ends(before: known) { return }
            additions[store.storeID] = addition
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
    @inline(never) func find(_ store: UUID) -> Addition? { additions.withLock { $0[store] } }

    /// Removes an addition after which the store was read.
    @inline(never) func remove(_ addition: Addition) {
        additions.withLock { if $0[addition.store] == addition { $0[addition.store] = nil } }
    }
}
