internal import PolystoreStorage
internal import Synchronization

/// What was committed since somebody last looked, bounded: who looks too seldom finds that everything may have changed.
///
/// What tasks call is not inlined: decision 0038, "No lock is inlined where a task waits".
final class CommitMailbox: CommitSubscriber {
    /// More than this is not kept (runs of keys, a commit and a kilobyte of values of deleted objects being one more each).
    private let capacity: Int
    /// Whether the values that are kept of deleted objects are of interest.
    private let keepsTombstones: Bool
    /// Nor are more commits than this.
    private let commitLimit: Int

    private struct State: Sendable {
        var commits: [CommittedChanges] = []
        var size = 0
        /// The stores of commits that were dropped.
        var overflow: Set<Int> = []
        var continuation: AsyncStream<Void>.Continuation?
        var isFinished = false
    }

    private let state = Mutex(State())

    init(capacity: Int = 10_000, commitLimit: Int = .max, keepsTombstones: Bool = false) {
        self.keepsTombstones = keepsTombstones
        self.capacity = capacity
        self.commitLimit = commitLimit
    }

    func receive(_ changes: CommittedChanges) {
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

    /// Remembers that stores are to be read anew.
    func putBack(_ stores: some Sequence<Int>) {
        state.withLock { $0.overflow.formUnion(stores) }
    }

    /// Everything since the last time, oldest first; what was dropped is one commit of unknown changes before the rest.
    @inline(never) func take() -> [CommittedChanges] {
        state.withLock { state in
            defer {
                state.commits = []
                state.size = 0
                state.overflow = []
            }
            return state.overflow.isEmpty ? state.commits : [.unknown(state.overflow)] + state.commits
        }
    }

    /// The oldest that was not taken, what was dropped before all else; nil for nothing.
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

    /// Whether nothing came.
    var isEmpty: Bool { state.withLock { $0.commits.isEmpty && $0.overflow.isEmpty } }

    /// A sequence with an element after something has come; several may be one. For one consumer.
    @inline(never) func arrivals() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let (isFinished, hasCommits) = state.withLock { state in
            state.continuation = continuation
            return (state.isFinished, !state.commits.isEmpty || !state.overflow.isEmpty)
        }
        if hasCommits { continuation.yield() }
        if isFinished { continuation.finish() }
        return stream
    }

    /// Wakes the consumer although nothing came.
    @inline(never) func wake() { state.withLock { $0.continuation }?.yield() }

    /// Ends the sequence of arrivals.
    func finish() {
        let continuation = state.withLock { state in
            state.isFinished = true
            return state.continuation
        }
        continuation?.finish()
    }
}
