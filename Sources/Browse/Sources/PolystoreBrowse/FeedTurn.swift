internal import Synchronization

/// The turn of a page that follows the history. It ends when it is released, whether the response was written or not.
final class FeedTurn: Sendable {
    /// The number of turns.
    final class Count: Sendable {
        static let most = 32
        let value = Mutex(0)
    }

    private let count: Count

    /// Begins a turn. Returns nil if too many pages follow the history.
    init?(_ count: Count) {
        let isFree = count.value.withLock { value in
            if value >= Count.most { return false }
            value += 1
            return true
        }
        if !isFree { return nil }
        self.count = count
    }

    deinit { count.value.withLock { $0 -= 1 } }
}
