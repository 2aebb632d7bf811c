internal import PolystoreFoundation
internal import PolystoreStorage

/// The watch of one store of a stack for changes made outside the stack.
struct Following: Sendable {
    /// The watch; nil if no other writer can change the store.
    var watch: (any ChangeWatch)?
    /// Whether a thread is reading the history.
    var isLooking = false {
        didSet {
            if isLooking { return }
            for waiter in waiters { waiter.signal() }
            waiters = []
        }
    }
    /// The semaphores of the threads that wait until no thread is reading the history.
    var waiters: [DispatchSemaphore] = []
    /// Whether the history must be read again after that.
    var isSignalled = false
    /// Whether there was a change that the history does not contain.
    var isUnknown = false
    /// Seconds until the history is polled again without a signal, because part of it had not settled or it could not be read.
    var pause = Self.shortestPause

    static let shortestPause = 0.001
    static let longestPause = 1.0
}
