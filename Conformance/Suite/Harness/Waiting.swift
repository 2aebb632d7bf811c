internal import Dispatch
internal import Foundation

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

    /// Runs the jobs of tasks that go on beside a case.
    private final class Beside: TaskExecutor {
        static let shared = Beside()

        private let queue = DispatchQueue(label: "polystore.conformance.beside", attributes: .concurrent)

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job), executor = asUnownedTaskExecutor()
            queue.async { job.runSynchronously(on: executor) }
        }
    }

    /// Begins a task that goes on beside a case.
    @discardableResult
    static func start(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        Task(executorPreference: Beside.shared) { await body() }
    }

    /// Waits until something holds, looking again and again; false when it does not within some seconds.
    static func until(_ seconds: Double = 30, _ holds: () throws -> Bool) rethrows -> Bool {
        let end = DispatchTime.now() + seconds
        while try !holds() {
            if DispatchTime.now() > end { return false }
            Thread.sleep(forTimeInterval: 0.0005)
        }
        return true
    }
}

/// Runs the jobs of an actor on a queue of its own.
final class QueueExecutor: SerialExecutor {
    private let queue = DispatchQueue(label: "polystore.conformance.actor")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job), executor = asUnownedSerialExecutor()
        queue.async { job.runSynchronously(on: executor) }
    }
}
