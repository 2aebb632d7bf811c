internal import Dispatch
internal import Foundation

/// Asynchronous work in a synchronous case. It runs on a separate thread, because all of Swift's threads may be waiting in cases.
enum Waiting {
    /// An executor that runs the tasks of a case, one job after the other.
    private final class Executor: TaskExecutor {
        private let queue = DispatchQueue(label: "polystore.conformance")

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job), executor = asUnownedTaskExecutor()
            queue.async { job.runSynchronously(on: executor) }
        }
    }

    /// Runs `body` as a task and waits for its end.
    static func run<R: Sendable>(_ body: @escaping @Sendable () async throws -> R) throws -> R? {
        let done = DispatchSemaphore(value: 0), outcome = SharedValue<Result<R, any Error>?>(nil)
        let executor = Executor()
        Task(executorPreference: executor) {
            do {
                let value = try await body()
                outcome.withLock { $0 = .success(value) }
            } catch {
                outcome.withLock { $0 = .failure(error) }
            }
            done.signal()
        }
        done.wait()
        return try outcome.withLock { $0 }?.get()
    }

    /// An executor for the jobs of tasks that run beside a case.
    private final class Beside: TaskExecutor {
        static let shared = Beside()

        private let queue = DispatchQueue(label: "polystore.conformance.beside", attributes: .concurrent)

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job), executor = asUnownedTaskExecutor()
            queue.async { job.runSynchronously(on: executor) }
        }
    }

    /// Starts a task that runs beside a case.
    @discardableResult
    static func start(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        Task(executorPreference: Beside.shared) { await body() }
    }

    /// Waits until a condition holds, by evaluating it repeatedly. Returns false if it does not hold within some seconds.
    static func until(_ seconds: Double = 30, _ holds: () throws -> Bool) rethrows -> Bool {
        let end = DispatchTime.now() + seconds
        while try !holds() {
            if DispatchTime.now() > end { return false }
            Thread.sleep(forTimeInterval: 0.0005)
        }
        return true
    }
}

/// An executor that runs the jobs of an actor on a separate queue.
final class QueueExecutor: SerialExecutor {
    private let queue = DispatchQueue(label: "polystore.conformance.actor")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job), executor = asUnownedSerialExecutor()
        queue.async { job.runSynchronously(on: executor) }
    }
}
