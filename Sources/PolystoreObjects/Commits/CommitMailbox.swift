internal import PolystoreStorage
internal import Synchronization

/// The commits since the last read, with bounded memory: if it overflows, the reader finds that everything may have changed.
///
/// The methods that tasks call are not inlined: decision 0038, "No lock is inlined where a task waits".
package final class CommitMailbox: CommitSubscriber {
    /// The maximum size of the kept commits, in runs of keys. A commit counts as one more, and so does a kilobyte of values of deleted
    /// objects.
    private let capacity: Int
    /// Whether the preserved values of deleted objects are kept.
    private let keepsTombstones: Bool
    /// The maximum number of commits.
    private let commitLimit: Int
    /// Whether the sequence of arrivals ends when the stack was shut down.
    private let endsWithStack: Bool

    private struct State: Sendable {
        var commits: [CommittedChanges] = []
        var size = 0
        /// The stores of commits that were dropped.
        var overflow: Set<Int> = []
        var continuation: AsyncStream<Void>.Continuation?
        var isFinished = false
    }

    private let state = Mutex(State())

    package init(capacity: Int = 10_000, commitLimit: Int = .max, keepsTombstones: Bool = false, endsWithStack: Bool = false) {
        self.keepsTombstones = keepsTombstones
        self.endsWithStack = endsWithStack
        self.capacity = capacity
        self.commitLimit = commitLimit
    }

    package func receive(_ changes: CommittedChanges) {
        let changes = keepsTombstones ? changes : changes.withoutTombstones
        let continuation = state.withLock { state in
            state.size += changes.size
            state.commits.append(changes)
            if state.size > capacity || state.commits.count > commitLimit {
                for commit in state.commits { state.overflow.formUnion(commit.parts.map(\.store)) }
                state.commits = []
                state.size = 0
            }
            return state.continuation
        }
        continuation?.yield()
    }

    /// Records that stores must be read again.
    func putBack(_ stores: some Sequence<Int>) {
        state.withLock { $0.overflow.formUnion(stores) }
    }

    /// Takes all commits since the last call, oldest first. Dropped ones become one commit of unknown changes before the rest.
    @inline(never) package func take() -> [CommittedChanges] {
        state.withLock { state in
            defer {
                state.commits = []
                state.size = 0
                state.overflow = []
            }
            return state.overflow.isEmpty ? state.commits : [.unknown(state.overflow)] + state.commits
        }
    }

    /// Takes the oldest commit, or first one commit for all dropped ones; nil if there is none.
    @inline(never) func takeFirst() -> CommittedChanges? {
        state.withLock { state in
            if !state.overflow.isEmpty {
                defer { state.overflow = [] }
                return .unknown(state.overflow)
            }
            if state.commits.isEmpty { return nil }
            let first = state.commits.removeFirst()
            state.size -= first.size
            return first
        }
    }

    /// Whether there are no commits.
    var isEmpty: Bool { state.withLock { $0.commits.isEmpty && $0.overflow.isEmpty } }

    /// Returns a sequence with an element after a commit has arrived, which may represent several. For one consumer.
    @inline(never) package func arrivals() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let (isFinished, hasCommits) = state.withLock { state in
            state.continuation = continuation
            return (state.isFinished, !state.commits.isEmpty || !state.overflow.isEmpty)
        }
        if hasCommits { continuation.yield() }
        if isFinished { continuation.finish() }
        return stream
    }

    /// Wakes the consumer although no commit has arrived.
    @inline(never) package func wake() { state.withLock { $0.continuation }?.yield() }

    package func didReceiveAll() { if endsWithStack { finish() } }

    /// Ends the sequence of arrivals.
    func finish() {
        let continuation = state.withLock { state in
            state.isFinished = true
            return state.continuation
        }
        continuation?.finish()
    }
}
