/// The work queues of a stack, by kinds of work that do not wait for each other.
package final class StackWorkers: Sendable {
    /// All threads of the stack.
    package let threads = WorkerThreads()
    /// Closures of `read`.
    package let reads: WorkQueue
    /// Batches of streams. The number of streams with a snapshot of their own is limited, so that each finds a thread.
    package let streams: WorkQueue
    /// The first fetches of observers, and the reads and writes of history trackers.
    package let observers: WorkQueue
    /// Closures of `perform`, in the order of their submission. As many run concurrently as the stores accept writers.
    package let writes: WorkQueue
    /// The opening and migration of stores.
    package let openings: WorkQueue
    /// The reads of health checks: as many as there may be stores that do not answer, because those must not delay the check of another.
    package let checks: WorkQueue

    init() {
        reads = WorkQueue(threads, width: 6)
        streams = WorkQueue(threads, width: StreamSeat.count)
        observers = WorkQueue(threads, width: 4)
        writes = WorkQueue(threads, width: 1)
        openings = WorkQueue(threads, width: 4)
        checks = WorkQueue(threads, width: 1000)
    }
}
