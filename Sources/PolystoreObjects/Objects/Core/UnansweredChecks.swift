internal import Synchronization

/// The stores that have not answered a health check after its time, by their positions. They are not read again before they do.
final class UnansweredChecks: Sendable {
    private let positions = Mutex<Set<Int>>([])

    /// Not inlined into tasks: decision 0038, "No lock is inlined where a task waits".
    @inline(never)
    func contains(_ position: Int) -> Bool { positions.withLock { $0.contains(position) } }

    func insert(_ position: Int) { positions.withLock { _ = $0.insert(position) } }

    func remove(_ position: Int) { positions.withLock { _ = $0.remove(position) } }
}
