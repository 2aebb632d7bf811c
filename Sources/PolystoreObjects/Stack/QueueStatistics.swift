/// The state of a queue of a stack: how much work runs and how much waits for its turn.
public struct QueueStatistics: Sendable, CustomStringConvertible {
    /// The kinds of queues.
    public enum Kind: String, Sendable, CaseIterable {
        /// The closures of `perform`.
        case writes
        /// The closures of `read`.
        case reads
        /// The batches of streams.
        case streams
        /// The fetches of observers.
        case observers
    }

    /// The kind of queue.
    public let kind: Kind
    /// The number of items that run.
    public let running: Int
    /// The number of items that wait for their turn.
    public let waiting: Int
    /// The number of items that may run at the same time. More run while committed transactions wait for the disk together.
    public let capacity: Int

    /// The state on one line.
    public var description: String { "\(kind.rawValue): \(running) of \(capacity) running, \(waiting) waiting" }
}

extension DataStack {
    /// The states of the queues of asynchronous work, for the metrics of a service. Synchronous work runs on the threads of its callers.
    public var queueStatistics: [QueueStatistics] {
        QueueStatistics.Kind.allCases.map { kind in
            let queue = core.workers.queue(kind)
            return QueueStatistics(kind: kind, running: queue.runningCount, waiting: queue.waitingCount, capacity: queue.width)
        }
    }
}

extension StackWorkers {
    fileprivate func queue(_ kind: QueueStatistics.Kind) -> WorkQueue {
        switch kind {
        case .writes: writes
        case .reads: reads
        case .streams: streams
        case .observers: observers
        }
    }
}
