internal import Foundation
internal import Synchronization

/// A few threads that wait in stores, so that Swift's own threads do not.
///
/// Stores are synchronous; a transaction that blocks on a lock or a disk would otherwise hold one of the few threads on which all
/// tasks of the program run. Threads are started when work is waiting and none is idle, and stay.
final class WorkerPool: Sendable {
    private struct State {
        var jobs: [@Sendable () -> Void] = []
        var threads = 0
        var idle = 0
        var isClosed = false
    }

    /// The part that the threads hold, so that the pool itself can go away and tell them.
    private final class Queue: Sendable {
        let state = Mutex(State())
        let available = DispatchSemaphore(value: 0)
    }

    private let queue = Queue()
    private let width: Int

    init(width: Int) { self.width = width }

    deinit {
        let threads = queue.state.withLock { state in
            state.isClosed = true
            return state.threads
        }
        for _ in 0..<threads { queue.available.signal() }
    }

    /// Runs `body` on one of the threads.
    func run<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
        try await withCheckedThrowingContinuation { continuation in
            submit { continuation.resume(with: Result { try body() }) }
        }
    }

    /// What `body` gives or throws on one of the threads.
    func result<R: Sendable, Failure: Error>(of body: @escaping @Sendable () throws(Failure) -> R) async -> Result<R, Failure> {
        await withCheckedContinuation { continuation in submit { continuation.resume(returning: Result(catching: body)) } }
    }

    /// Runs a job on one of the threads; nobody waits for it. Not inlined into tasks: Decisions, "No lock is inlined where a task waits".
    @inline(never) func submit(_ job: @escaping @Sendable () -> Void) {
        let startsThread = queue.state.withLock { state in
            state.jobs.append(job)
            guard state.jobs.count > state.idle, state.threads < width else { return false }
            state.threads += 1
            return true
        }
        if startsThread { Self.start(queue) }
        queue.available.signal()
    }

    private static func start(_ queue: Queue) {
        let thread = Thread {
            while true {
                queue.state.withLock { $0.idle += 1 }
                queue.available.wait()
                let (job, isClosed) = queue.state.withLock { state in
                    state.idle -= 1
                    return (state.jobs.isEmpty ? nil : state.jobs.removeFirst(), state.isClosed)
                }
                if let job { job() } else if isClosed { return }
            }
        }
        // Deep object graphs recurse; the default of secondary threads is 512 KB on macOS.
        thread.stackSize = 8 << 20
        thread.name = "polystore"
        thread.start()
    }
}
