public import Foundation
internal import Synchronization

/// The one write transaction of a store in this process: those who ask get it in the order in which they asked.
///
/// A plain lock would let a thread that releases and takes it again starve the others.
public final class WriteLane: Sendable {
    private struct State {
        var isTaken = false
        var waiting: [(id: Int, semaphore: DispatchSemaphore)] = []
        var next = 0
    }

    private let state = Mutex(State())
    /// The commits that came through it.
    public let commits = OwnCommits()

    /// A free lane.
    public init() {}

    /// Takes the lane, waiting for at most `timeout` seconds.
    ///
    /// - Throws: `busy` when the time has passed.
    public func enter(timeout: TimeInterval) throws(StorageError) {
        let ticket = state.withLock { state -> (Int, DispatchSemaphore)? in
            if !state.isTaken {
                state.isTaken = true
                return nil
            }
            let semaphore = DispatchSemaphore(value: 0)
            state.next += 1
            state.waiting.append((state.next, semaphore))
            return (state.next, semaphore)
        }
        guard let (id, semaphore) = ticket else { return }
        if semaphore.wait(timeout: .now() + timeout) == .success { return }
        let gaveUp = state.withLock { state in
            guard let index = state.waiting.firstIndex(where: { $0.id == id }) else { return false }
            state.waiting.remove(at: index)
            return true
        }
        // Handed over at the last moment: the lane is ours after all.
        if !gaveUp { return semaphore.wait() }
        throw StorageError(.busy, "another write transaction held the store for more than \(timeout) seconds; try again")
    }

    /// Gives the lane to the next in line.
    public func leave() {
        state.withLock { state in
            if state.waiting.isEmpty { state.isTaken = false } else { state.waiting.removeFirst().semaphore.signal() }
        }
    }
}
