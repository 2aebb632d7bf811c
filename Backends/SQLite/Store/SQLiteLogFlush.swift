#if SQLite
internal import PolystoreFoundation
internal import PolystoreStorage
internal import Synchronization

/// The flush of the write-ahead log to the disk, which commits that wait for it at the same time share.
///
/// A transaction leaves the flush to this object: its COMMIT writes to the log and does not wait for the disk, so that the next transaction
/// can begin meanwhile. The log holds commits in their order, each with a checksum that continues that of the previous one; after a power
/// loss, therefore, a commit is there only if all earlier ones are. The engine itself flushes the log before it copies pages from it, and
/// the header of a log that it begins anew (https://sqlite.org/pragma.html#pragma_synchronous, NORMAL).
final class SQLiteLogFlush: Sendable {
    /// A commit that waits.
    private final class Waiter: Sendable {
        enum Message: Sendable {
            case isFlushed
            case hasFailed(StorageError)
            /// The commit flushes the log for all that wait.
            case flush
        }

        private let semaphore = DispatchSemaphore(value: 0)
        private let message = Mutex<Message?>(nil)

        func send(_ message: Message) {
            self.message.withLock { $0 = message }
            semaphore.signal()
        }

        func receive() -> Message {
            semaphore.wait()
            return message.withLock { $0.take() } ?? .flush
        }
    }

    private struct State {
        var isFlushing = false
        /// The commits that arrived since the current flush began.
        var waiting: [Waiter] = []
        /// Whether a flush has failed since the last time that the log was emptied.
        var hasFailed = false
        var flushes = 0
    }

    private let state = Mutex(State())
    private let empty: @Sendable () throws(StorageError) -> Void

    /// - Parameter empty: Copies all of the log to the database file and waits for the disk.
    init(empty: @escaping @Sendable () throws(StorageError) -> Void) { self.empty = empty }

    /// The number of flushes.
    var count: Int { state.withLock { $0.flushes } }

    /// Waits until the commits that were made before are on the disk.
    ///
    /// - Parameter log: The log in which the commit is.
    /// - Throws: `inputOutput` if the disk failed; it is not known then whether the commits survive a power loss.
    func wait(for log: SQLiteLogFile) throws(StorageError) {
        let waiter = Waiter()
        if arrive(waiter) { flush(log) }
        while true {
            switch waiter.receive() {
            case .isFlushed: return
            case .hasFailed(let error): throw error
            case .flush: flush(log)
            }
        }
    }

    /// Adds a commit. Returns whether it has to flush the log.
    @inline(never) private func arrive(_ waiter: Waiter) -> Bool {
        state.withLock { state in
            state.waiting.append(waiter)
            defer { state.isFlushing = true }
            return !state.isFlushing
        }
    }

    /// Flushes the log for all commits that wait, and lets one that has arrived meanwhile flush it again.
    @inline(never) private func flush(_ log: SQLiteLogFile) {
        let (group, hasFailed) = state.withLock { state in
            defer { state.waiting = [] }
            return (state.waiting, state.hasFailed)
        }
        let message: Waiter.Message
        do throws(StorageError) {
            // After a failure the system may take lost pages for written ones, so that the next flush proves nothing about earlier commits
            // (https://wiki.postgresql.org/wiki/Fsync_Errors). Copied to the database file they do not need the log.
            if hasFailed { try empty() } else { try log.flush() }
            message = .isFlushed
        } catch {
            message = .hasFailed(error)
        }
        let next = state.withLock { state in
            state.flushes += 1
            if case .isFlushed = message { state.hasFailed = false } else { state.hasFailed = true }
            state.isFlushing = !state.waiting.isEmpty
            return state.waiting.first
        }
        for waiter in group { waiter.send(message) }
        next?.send(.flush)
    }
}
#endif
