public import Foundation
internal import Synchronization

/// The one write transaction of a store in this process: those who ask get it in the order in which they asked.
///
/// A plain lock would let a thread that releases and takes it again starve the others.
public final class WriteLane: Sendable {
    private struct State {
        /// The number of the one who has the lane; nil when it is free.
        var holder: Int?
        var waiting: [(id: Int, semaphore: DispatchSemaphore)] = []
        var next = 0
    }

    private let state = Mutex(State())
    /// The commits that came through it.
    public let commits = OwnCommits()

    /// A free lane.
    public init() {}

    /// Takes the lane, waiting for at most `timeout` seconds and until the limit ends.
    ///
    /// - Throws: `busy` when the time has passed; `cancelled` or `timeout` by the limit.
    @inline(never)
    public func enter(timeout: TimeInterval, limit: WorkLimit? = nil) throws(StorageError) {
        try limit?.check()
        let semaphore = DispatchSemaphore(value: 0), (id, isMine) = take(semaphore)
        if isMine { return }
        // Wakes the one who waits, who finds out whether it got the lane.
        let interrupt = limit?.onEnd { semaphore.signal() }
        _ = semaphore.wait(timeout: .now() + timeout)
        if let interrupt { limit?.removeInterrupt(interrupt) }
        if !giveUp(id) { return }
        try limit?.check()
        throw StorageError(.busy, "another write transaction held the store for more than \(timeout) seconds; try again")
    }

    /// Takes the lane.
    ///
    /// - Returns: The options for what has still to be waited for, with the time that is left.
    package func enter(_ options: WriteOptions) throws(StorageError) -> WriteOptions {
        let start = ContinuousClock.now
        try enter(timeout: options.timeout, limit: options.limit)
        var rest = options
        rest.timeout -= start.duration(to: .now) / .seconds(1)
        return rest
    }

    /// Takes the lane where it is free, else a place in the line.
    private func take(_ semaphore: DispatchSemaphore) -> (id: Int, isMine: Bool) {
        state.withLock { state in
            state.next += 1
            let isMine = state.holder == nil
            if isMine { state.holder = state.next } else { state.waiting.append((state.next, semaphore)) }
            return (state.next, isMine)
        }
    }

    /// Leaves the line; false where the lane was handed over at the last moment.
    private func giveUp(_ id: Int) -> Bool {
        state.withLock { state in
            state.waiting.removeAll { $0.id == id }
            return state.holder != id
        }
    }

    /// Gives the lane to the next in line.
    @inline(never)
    public func leave() {
        state.withLock { state in
            state.holder = state.waiting.first?.id
            if !state.waiting.isEmpty { state.waiting.removeFirst().semaphore.signal() }
        }
    }
}
