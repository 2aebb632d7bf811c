internal import Dispatch
internal import Synchronization

/// Asynchronous work in a case, which is synchronous: on a thread of its own, because all of Swift's may be waiting in cases.
enum Waiting {
    /// Runs the tasks of a case, one job after the other.
    private final class Executor: TaskExecutor {
        private let queue = DispatchQueue(label: "polystore.conformance")

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job), executor = asUnownedTaskExecutor()
            queue.async { job.runSynchronously(on: executor) }
        }
    }

    /// Runs `body` as a task, and waits for its end.
    static func run<R: Sendable>(_ body: @escaping @Sendable () async throws -> R) throws -> R? {
        let done = DispatchSemaphore(value: 0), result = Mutex<Result<R, any Error>?>(nil)
        let executor = Executor()
        Task(executorPreference: executor) {
            do {
                let value = try await body()
                result.withLock { $0 = .success(value) }
            } catch {
                result.withLock { $0 = .failure(error) }
            }
            done.signal()
        }
        done.wait()
        return try result.withLock { $0 }?.get()
    }
}
