internal import Foundation
internal import PolystoreObjects
internal import PolystoreStorage

/// Threads that write the rows of a copy to its target, each in steps of its own, while the thread that uses this object reads them.
///
/// The rows of a step and the note of the progress are committed together, so that the note always names exactly what the target has.
final class CopyWorkers {
    private let queue = CopyQueue()

    /// The maximum number of batches at once: those that are written, those that wait, and two that are read.
    static func mostBatches(_ writers: Int) -> Int { 2 * writers + 2 }

    /// Starts threads. Those that get no connection to the target end again, unless none is left.
    ///
    /// - Parameter steps: Makes the steps of a thread.
    /// - Throws: `busy` if the system cannot provide a thread.
    func start(_ count: Int, _ steps: @escaping @Sendable () -> CopySteps) throws(StorageError) {
        for _ in 0..<count {
            queue.enter()
            let isStarted = WorkerThreads.startThread { [queue] in
                let steps = steps()
                do throws(StorageError) { try steps.prepare() } catch { return queue.leave(unable: error) }
                Self.run(queue, steps)
                queue.leave()
            }
            if isStarted { continue }
            queue.leave()
            throw StorageError(.busy, "the system could not create a thread; try again when fewer are in use")
        }
    }

    private static func run(_ queue: CopyQueue, _ steps: CopySteps) {
        do throws(StorageError) {
            loop: while true {
                switch queue.next(until: steps.isOpen ? steps.due : nil) {
                case .load(let load):
                    try steps.write(load)
                    queue.wrote(load)
                    if .now >= steps.due { try commit(steps, queue) }
                case .commit: try commit(steps, queue)
                case .end: break loop
                }
            }
            try steps.commit()
        } catch {
            steps.abandon()
            queue.fail(error)
        }
    }

    private static func commit(_ steps: CopySteps, _ queue: CopyQueue) throws(StorageError) {
        try steps.commit()
        queue.committed()
    }

    /// The first error of a thread; nil if there is none.
    var failure: StorageError? { queue.failure }

    /// Returns an empty batch for rows that are to be written.
    func batch(_ capacity: Int) -> RowBatch { queue.spareBatch() ?? RowBatch(capacity: capacity) }

    /// Leaves rows to a thread, and waits if others wait already. The batch of the rows is not used afterwards.
    ///
    /// - Throws: The first error of a thread.
    func write(_ load: CopyLoad) throws(StorageError) { try queue.add(load) }

    /// Waits until everything is written and committed.
    ///
    /// - Throws: The first error of a thread.
    func settle() throws(StorageError) { try queue.settle() }

    /// Waits until everything is written and committed and the threads have ended.
    ///
    /// - Throws: The first error of a thread.
    func finish() throws(StorageError) {
        queue.end(discarding: false)
        if let failure { throw failure }
    }

    /// Discards what no thread has begun to write, and waits until the rest is committed and the threads have ended.
    func stop() { queue.end(discarding: true) }

    /// Returns the number of rows of each table that were written since the last call.
    func takeWritten() -> [(name: String, count: Int)] { queue.takeWritten() }
}
