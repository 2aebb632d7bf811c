internal import Synchronization

/// The number of pages that follow the history.
final class FeedCount: Sendable {
    private static let most = 32
    private let count = Mutex(0)

    /// Begins to follow. Returns false if too many pages do.
    func begin() -> Bool {
        count.withLock { count in
            if count >= Self.most { return false }
            count += 1
            return true
        }
    }

    func end() { count.withLock { $0 -= 1 } }
}
