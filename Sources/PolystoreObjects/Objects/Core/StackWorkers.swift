internal import PolystoreFoundation
package import PolystoreStorage

/// The work queues of a stack, by kinds of work that do not wait for each other.
package final class StackWorkers: Sendable {
    /// All threads of the stack.
    package let threads = WorkerThreads()
    /// Closures of `read`. As many run concurrently as the stores and the machine serve.
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
        reads = WorkQueue(threads, width: Self.concurrentReads([]))
        streams = WorkQueue(threads, width: StreamSeat.count)
        observers = WorkQueue(threads, width: Self.observerCount)
        writes = WorkQueue(threads, width: 1)
        openings = WorkQueue(threads, width: 4)
        checks = WorkQueue(threads, width: 1000)
    }

    private static let observerCount = 4
    private static let fewestReads = 6

    /// Returns the number of closures of `read` that run concurrently over stores with these capabilities: one for each core, or what the
    /// smallest pool of connections leaves beside streams and observers, which must find a connection too. At least six, because a closure
    /// may also wait for a disk, a server or the program.
    ///
    /// - Parameter cores: The number of cores that the process may use.
    package static func concurrentReads(
        _ capabilities: [StorageCapabilities], cores: Int = ProcessInfo.processInfo.activeProcessorCount
    ) -> Int {
        let pools = capabilities.compactMap(\.maximumReaders).map { $0 - StreamSeat.count - observerCount }
        return max(fewestReads, pools.min() ?? cores)
    }
}
