/// A lock for state that `Mutex` cannot hold: values that are not sendable, and calls that the holder of the lock may repeat.
///
/// Unchecked: the system's mutex is made for several threads, and its address does not change.
package final class Lock: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

    /// Creates a lock.
    ///
    /// - Parameter isRecursive: Whether the thread that holds the lock can take it again.
    package init(isRecursive: Bool = false) {
        mutex.initialize(to: pthread_mutex_t())
        withUnsafeTemporaryAllocation(of: pthread_mutexattr_t.self, capacity: 1) { attributes in
            pthread_mutexattr_init(attributes.baseAddress!)
            defer { pthread_mutexattr_destroy(attributes.baseAddress!) }
            if isRecursive { pthread_mutexattr_settype(attributes.baseAddress!, Int32(PTHREAD_MUTEX_RECURSIVE)) }
            pthread_mutex_init(mutex, attributes.baseAddress)
        }
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Waits until the lock is free and takes it.
    package func lock() { pthread_mutex_lock(mutex) }

    /// Gives the lock back.
    package func unlock() { pthread_mutex_unlock(mutex) }
}
