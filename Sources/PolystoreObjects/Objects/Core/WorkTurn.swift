internal import Synchronization

/// The turn of running work in its queue.
package final class WorkTurn: Sendable {
    private let queue: WorkQueue
    private let left = Atomic(false)

    init(_ queue: WorkQueue) { self.queue = queue }

    /// Whether the turn was left.
    var hasLeft: Bool { left.load(ordering: .relaxed) }

    /// Lets the next item of the queue begin although this one has not ended. Serial items continue to wait for each other.
    ///
    /// *Requires*: the call comes from the thread on which the work runs.
    package func leave() { if !hasLeft, queue.leave() { left.store(true, ordering: .relaxed) } }
}
