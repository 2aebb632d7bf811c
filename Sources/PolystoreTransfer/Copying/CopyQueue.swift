internal import Foundation
internal import PolystoreStorage

/// Rows of a copy that were read and wait for a thread that writes them.
///
/// Unchecked: `state` is used only under the lock of `condition`. Each batch in it belongs to the queue: the thread that adds a batch does not
/// use it any more, and the thread that takes it is the only one to do so until it gives it back.
final class CopyQueue: @unchecked Sendable {
    /// The next work of a thread.
    enum Work {
        case load(CopyLoad)
        case commit
        case end
    }

    private struct State {
        var waiting: [CopyLoad] = []
        /// Batches whose rows were written.
        var spare: [RowBatch] = []
        /// The number of threads.
        var threads = 0
        /// The number of threads that have rows that are not committed.
        var open = 0
        var isSettling = false
        var isEnded = false
        var failure: StorageError?
        var written: [(name: String, count: Int)] = []
    }

    private var state = State()
    private let condition = NSCondition()

    private func locked<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        condition.lock()
        defer { condition.unlock() }
        return try body()
    }

    /// The first error of a thread.
    var failure: StorageError? { locked { state.failure } }

    // MARK: The thread that reads

    /// Adds rows, after waiting until there is room.
    ///
    /// - Throws: The first error of a thread.
    func add(_ load: CopyLoad) throws(StorageError) {
        try locked { () throws(StorageError) in
            while state.waiting.count >= state.threads, state.failure == nil { condition.wait() }
            if let failure = state.failure { throw failure }
            state.waiting.append(load)
            condition.broadcast()
        }
    }

    /// Waits until everything is committed.
    ///
    /// - Throws: The first error of a thread.
    func settle() throws(StorageError) {
        try locked { () throws(StorageError) in
            state.isSettling = true
            condition.broadcast()
            while state.failure == nil, !state.waiting.isEmpty || state.open > 0 { condition.wait() }
            state.isSettling = false
            if let failure = state.failure { throw failure }
        }
    }

    /// Ends the threads, and waits for them.
    ///
    /// - Parameter discarding: Whether rows that wait are not written any more.
    func end(discarding: Bool) {
        locked {
            if discarding { state.waiting.removeAll() }
            state.isEnded = true
            condition.broadcast()
            while state.threads > 0 { condition.wait() }
        }
    }

    /// Returns a batch that is not used any more; nil if there is none.
    func spareBatch() -> RowBatch? { locked { state.spare.popLast() } }

    /// Returns the number of rows of each table that were written since the last call.
    func takeWritten() -> [(name: String, count: Int)] {
        locked {
            defer { state.written = [] }
            return state.written
        }
    }

    // MARK: Threads that write

    /// Counts a thread that begins.
    func enter() { locked { state.threads += 1 } }

    /// Counts a thread that has ended.
    ///
    /// - Parameter error: The reason why it was unable to write at all, which is an error only of the last thread.
    func leave(unable error: StorageError? = nil) {
        locked {
            if state.threads == 1, let error { state.failure = state.failure ?? error }
            state.threads -= 1
            condition.broadcast()
        }
    }

    /// Waits for the next work of a thread.
    ///
    /// - Parameter due: The time at which the thread has to commit; nil if it has nothing to commit.
    func next(until due: ContinuousClock.Instant?) -> Work {
        locked {
            while state.failure == nil {
                if !state.waiting.isEmpty {
                    if due == nil { state.open += 1 }
                    condition.broadcast()
                    return .load(state.waiting.removeFirst())
                }
                if state.isEnded { return .end }
                guard let due else {
                    condition.wait()
                    continue
                }
                let left = ContinuousClock.now.duration(to: due) / .seconds(1)
                if state.isSettling || left <= 0 { return .commit }
                _ = condition.wait(until: Date(timeIntervalSinceNow: left))
            }
            return .end
        }
    }

    /// Takes back the batch of rows that a thread has written.
    func wrote(_ load: CopyLoad) {
        locked {
            state.written.append((load.name, load.part.digest.count))
            guard case .objects(_, let batch) = load.rows else { return }
            batch.clear()
            state.spare.append(batch)
        }
    }

    /// Notes that a thread has committed its rows.
    func committed() {
        locked {
            state.open -= 1
            condition.broadcast()
        }
    }

    /// Notes an error of a thread, after which all end.
    func fail(_ error: StorageError) {
        locked {
            state.failure = state.failure ?? error
            condition.broadcast()
        }
    }
}
