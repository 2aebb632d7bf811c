internal import Synchronization

/// The stores that have not answered a health check after its time, by their positions. They are not read again before they do.
final class UnansweredChecks: Sendable {
    /// The number of unanswered checks of each position.
    private let positions = Mutex<[Int: Int]>([:])

    /// Not inlined into tasks: decision 0038, "No lock is inlined where a task waits".
    @inline(never)
    func contains(_ position: Int) -> Bool { positions.withLock { $0[position] != nil } }

    func insert(_ position: Int) { positions.withLock { $0[position, default: 0] += 1 } }

    func remove(_ position: Int) {
        positions.withLock { positions in
            let count = positions[position, default: 1] - 1
            positions[position] = count == 0 ? nil : count
        }
    }
}
