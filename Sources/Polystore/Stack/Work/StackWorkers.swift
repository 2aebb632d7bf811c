/// What a stack does on threads of its own, by kinds that do not wait for each other.
package final class StackWorkers: Sendable {
    /// All threads of the stack.
    package let threads = WorkerThreads()
    /// Closures of `read`.
    package let reads: WorkQueue
    /// Batches of streams. A stack has few streams with a snapshot of their own, so that one always finds a thread.
    package let streams: WorkQueue
    /// The first fetches of observers, and what trackers of the history read and note.
    package let observers: WorkQueue
    /// Closures of `perform`, in the order in which they were submitted: as many at a time as the stores have writers.
    package let writes: WorkQueue
    /// Stores that are opened and migrated.
    package let openings: WorkQueue

    init() {
        reads = WorkQueue(threads, width: 6)
        streams = WorkQueue(threads, width: StreamSeat.count)
        observers = WorkQueue(threads, width: 4)
        writes = WorkQueue(threads, width: 1)
        openings = WorkQueue(threads, width: 4)
    }
}
