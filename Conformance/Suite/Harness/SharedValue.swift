internal import Synchronization

/// A value that a case shares with the tasks and threads that it starts.
///
/// Its lock is never inlined into a task: decision 0038, "No lock is inlined where a task waits".
final class SharedValue<Value: Sendable>: Sendable {
    private let value: Mutex<Value>

    init(_ value: Value) { self.value = Mutex(value) }

    @inline(never)
    func withLock<R: Sendable>(_ body: (inout Value) throws -> R) rethrows -> R {
        try value.withLock { try body(&$0) }
    }
}
