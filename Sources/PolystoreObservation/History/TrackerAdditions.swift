internal import Foundation
internal import PolystoreObjects
internal import PolystoreStorage
internal import Synchronization

/// The positions in the histories of stores at the time when they were added to a stack, for a tracker that reads them later.
///
/// Functions that tasks call are not inlined: decision 0038, "No lock is inlined where a task waits".
final class TrackerAdditions: StoreAdditionObserver {
    struct Addition: Sendable, Hashable {
        /// The newest token of the store.
        let token: HistoryToken
        /// Whether no transaction had a greater token already.
        let isSettled: Bool
    }

    private let additions = Mutex<[UUID: Addition]>([:])

    func willAdd(_ store: OpenStore) {
        guard store.capabilities.contains(.history), let addition = try? Self.addition(of: store) else { return }
        additions.withLock { additions in
            // A store that was removed before the tracker has read it continues where it was added first, unless its history ends earlier.
            if let known = additions[store.storeID], known.token.position <= addition.token.position { return }
            additions[store.storeID] = addition
        }
    }

    private static func addition(of store: OpenStore) throws(StorageError) -> Addition {
        let reader = try store.beginRead()
        defer { reader.end() }
        return Addition(token: try HistoryScan.newest(reader), isSettled: try !reader.hasUnsettledHistory())
    }

    /// Returns the addition of a store that was not read since then.
    @inline(never) func find(_ store: UUID) -> Addition? { additions.withLock { $0[store] } }

    /// Removes an addition after which the store was read.
    @inline(never) func remove(_ addition: Addition) {
        additions.withLock { if $0[addition.token.store] == addition { $0[addition.token.store] = nil } }
    }
}
