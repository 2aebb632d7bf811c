internal import Foundation
package import PolystoreStorage
internal import Synchronization

/// The threads of a stack, which wait in stores so that Swift's own threads do not.
///
/// Stores are synchronous; a transaction that blocks on a lock or a disk would otherwise hold one of the few threads on which all tasks of
/// the program run. A thread is started when there is work and none is idle. One that was idle for long ends, and all end when the stack
/// goes away. How much work there is at a time is the affair of the queues above.
package final class WorkerThreads: Sendable {
    package typealias Work = @Sendable () -> Void

    /// The work of one thread, given when it starts and again whenever it is idle.
    private final class Slot: Sendable {
        let signal = DispatchSemaphore(value: 0)
        private let work: Mutex<Work?>

        init(_ work: @escaping Work) { self.work = Mutex(work) }

        func give(_ work: @escaping Work) {
            self.work.withLock { $0 = work }
            signal.signal()
        }

        /// Does the work; false where there is none. What it held is released on return, before the thread waits.
        func run() -> Bool {
            guard let work = work.withLock({ $0.take() }) else { return false }
            work()
            return true
        }
    }

    private struct State {
        /// The one that was last at work is last, and gets the next work.
        var idle: [Slot] = []
        var count = 0
        var isClosed = false
    }

    /// The part that the threads hold, so that their owner can go away and end them.
    private final class Shared: Sendable {
        let state = Mutex(State())
        let patience: Double

        init(_ patience: Double) { self.patience = patience }
    }

    private let shared: Shared
    private let startThread: @Sendable (@escaping Work) -> Bool

    /// No threads yet.
    ///
    /// - Parameters:
    ///   - patience: The seconds after which an idle thread ends.
    ///   - startThread: Runs a closure on a new thread; false where the system gives none.
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

    /// Runs work on an idle thread, or on a new one. Not inlined into tasks: decision 0038, "No lock is inlined where a task waits".
    ///
    /// - Throws: `busy` where the system gives no thread.
    @inline(never) package func run(_ work: @escaping Work) throws(StorageError) {
        let idle = shared.state.withLock { state in
            if state.idle.isEmpty { state.count += 1 }
            return state.idle.popLast()
        }
        if let idle { return idle.give(work) }
        let shared = shared, slot = Slot(work)
        if startThread({ Self.work(slot, shared) }) { return }
        shared.state.withLock { $0.count -= 1 }
        throw StorageError(.busy, "the system gives no more threads; try again when fewer are in use")
    }

    private static func work(_ slot: Slot, _ shared: Shared) {
        while slot.run() { if !wait(slot, shared) { return } }
    }

    /// Waits for more work; false where there is none.
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
        // Work was given at the last moment, or the stack went away then.
        if !ends { slot.signal.wait() }
        return !ends
    }
}

// MARK: Starting

extension WorkerThreads {
    private final class Start {
        let body: Work
        init(_ body: @escaping Work) { self.body = body }

        /// The function of a thread.
        static func run(_ pointer: UnsafeMutableRawPointer) {
            Thread.current.name = "polystore"
            Unmanaged<Start>.fromOpaque(pointer).takeRetainedValue().body()
        }
    }

    /// Runs a closure on a new thread. Foundation's `Thread` does not say when the system gives none.
    package static func startThread(_ body: @escaping Work) -> Bool {
        withUnsafeTemporaryAllocation(of: pthread_attr_t.self, capacity: 1) { attributes in
            guard let attributes = attributes.baseAddress, pthread_attr_init(attributes) == 0 else { return false }
            defer { pthread_attr_destroy(attributes) }
            // Deep object graphs recurse; the default of secondary threads is 512 KB on macOS.
            pthread_attr_setstacksize(attributes, 8 << 20)
            pthread_attr_setdetachstate(attributes, Int32(PTHREAD_CREATE_DETACHED))
            let start = Unmanaged.passRetained(Start(body)), code = create(attributes, start.toOpaque())
            if code != 0 { start.release() }
            return code == 0
        }
    }

    #if canImport(Darwin)
    private static func create(_ attributes: UnsafePointer<pthread_attr_t>, _ start: UnsafeMutableRawPointer) -> Int32 {
        var thread: pthread_t?
        return pthread_create(
            &thread, attributes,
            { start in
                autoreleasepool { Start.run(start) }
                return nil
            }, start)
    }
    #else
    private static func create(_ attributes: UnsafePointer<pthread_attr_t>, _ start: UnsafeMutableRawPointer) -> Int32 {
        var thread = pthread_t()
        return pthread_create(
            &thread, attributes,
            { start in
                start.map(Start.run)
                return nil
            }, start)
    }
    #endif
}
