internal import PolystoreFoundation
package import PolystoreStorage
internal import Synchronization

/// The threads of a stack on which it waits for stores, so that Swift's own threads do not block.
///
/// Stores are synchronous. A transaction that blocks on a lock or a disk would otherwise hold one of the few threads on which all tasks of
/// the program run. A thread is started if there is work and no thread is idle. A thread that was idle for `patience` ends, and all threads
/// end when the stack is released. The queues above limit the amount of concurrent work.
package final class WorkerThreads: Sendable {
    package typealias Work = @Sendable () -> Void

    /// The work of one thread, assigned when the thread starts and again whenever it is idle.
    private final class Slot: Sendable {
        let signal = DispatchSemaphore(value: 0)
        private let work: Mutex<Work?>

        init(_ work: @escaping Work) { self.work = Mutex(work) }

        func give(_ work: @escaping Work) {
            self.work.withLock { $0 = work }
            signal.signal()
        }

        /// Runs the work, or returns false if there is none. The work is released on return, before the thread waits.
        func run() -> Bool {
            guard let work = work.withLock({ $0.take() }) else { return false }
            work()
            return true
        }
    }

    private struct State {
        /// The idle threads. The most recently used one is last, and gets the next work.
        var idle: [Slot] = []
        var count = 0
        var isClosed = false
    }

    /// The state that the threads retain, so that their owner can be released and end them.
    private final class Shared: Sendable {
        let state = Mutex(State())
        let patience: Double

        init(_ patience: Double) { self.patience = patience }
    }

    private let shared: Shared
    private let startThread: @Sendable (@escaping Work) -> Bool

    /// Creates an owner without threads.
    ///
    /// - Parameters:
    ///   - patience: The time in seconds after which an idle thread ends.
    ///   - startThread: A function that runs a closure on a new thread, or returns false if the system cannot provide one.
    package init(patience: Double = 10, startThread: @escaping @Sendable (@escaping Work) -> Bool = WorkerThreads.startThread) {
        shared = Shared(patience)
        self.startThread = startThread
    }

    deinit {
        let idle = shared.state.withLock { state in
            state.isClosed = true
            state.count -= state.idle.count
            defer { state.idle = [] }
            return state.idle
        }
        for slot in idle { slot.signal.signal() }
    }

    /// The number of threads.
    package var count: Int { shared.state.withLock { $0.count } }

    /// Runs work on an idle thread or on a new one. Not inlined into tasks: decision 0038, "No lock is inlined where a task waits".
    ///
    /// - Throws: `busy` if the system cannot provide a thread.
    @inline(never) package func run(_ work: @escaping Work) throws(StorageError) {
        let idle = shared.state.withLock { state in
            if state.idle.isEmpty { state.count += 1 }
            return state.idle.popLast()
        }
        if let idle { return idle.give(work) }
        let shared = shared, slot = Slot(work)
        if startThread({ Self.work(slot, shared) }) { return }
        shared.state.withLock { $0.count -= 1 }
        throw StorageError(.busy, "the system could not create a thread; try again when fewer are in use")
    }

    private static func work(_ slot: Slot, _ shared: Shared) {
        while slot.run() { if !wait(slot, shared) { return } }
    }

    /// Waits for more work; returns false if the thread must end.
    private static func wait(_ slot: Slot, _ shared: Shared) -> Bool {
        let waits = shared.state.withLock { state in
            if state.isClosed { state.count -= 1 } else { state.idle.append(slot) }
            return !state.isClosed
        }
        if !waits { return false }
        if slot.signal.wait(timeout: .now() + shared.patience) == .success { return true }
        let ends = shared.state.withLock { state in
            guard let index = state.idle.firstIndex(where: { $0 === slot }) else { return false }
            state.idle.remove(at: index)
            state.count -= 1
            return true
        }
        // Work was assigned, or the stack was released, just before the timeout.
        if !ends { slot.signal.wait() }
        return !ends
    }
}

// MARK: Starting

extension WorkerThreads {
    /// Runs a closure on a new thread, or returns false if the system cannot provide one.
    package static func startThread(_ body: @escaping Work) -> Bool { Threads.start(named: "polystore", body) }
}
