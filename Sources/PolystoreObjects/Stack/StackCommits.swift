internal import PolystoreFoundation
public import PolystoreStorage

/// The commits to the stores of a stack, by this stack and by other writers, in the order of delivery: `DataStack.commits`.
///
/// A sequence is for one consumer. It retains the stack, and releases it when its task is cancelled or the sequence is released. It ends after
/// the last commit before a shutdown of the stack.
public struct StackCommits: AsyncSequence, Sendable {
    /// One commit, or several merged into one.
    public typealias Element = StackCommit
    /// The sequence does not fail.
    public typealias Failure = Never

    /// The handling of commits that arrive while the consumer is busy. In both cases memory is bounded.
    public enum Buffering: Sendable, Hashable {
        /// All are merged into one element: an object that was added and changed counts as added, and one that was added and deleted is
        /// omitted. The limit is ten thousand runs of changes, where a kilobyte of preserved values counts as one; beyond that the element
        /// states which stores must be read again.
        case coalescing
        /// Each is an element, up to this number. Beyond it all waiting ones become one element that states which stores must be read
        /// again.
        case gap(after: Int)
    }

    private let source: Source

    init(_ core: StackCore, _ buffering: Buffering) throws(StorageError) { source = try Source(core, buffering) }

    /// Starts at the creation of the sequence: commits since then are waiting.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(source) }

    /// An iterator over commits.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let source: Source
        private var arrivals: AsyncStream<Void>.Iterator

        fileprivate init(_ source: Source) {
            self.source = source
            arrivals = source.mailbox.arrivals().makeAsyncIterator()
        }

        /// Returns the next commit, or nil after the task was cancelled or the stack was shut down.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> StackCommit? {
            while !Task.isCancelled {
                if let commit = source.take() { return commit }
                if await arrivals.next(isolation: actor) == nil { break }
            }
            source.end()
            return nil
        }

        /// Returns the next commit, or nil after the task was cancelled or the stack was shut down.
        public mutating func next() async -> StackCommit? { await next(isolation: nil) }
    }

    fileprivate final class Source: Sendable {
        let mailbox: CommitMailbox
        private let core: StackCore
        private let isCoalescing: Bool

        init(_ core: StackCore, _ buffering: Buffering) throws(StorageError) {
            self.core = core
            switch buffering {
            case .coalescing:
                mailbox = CommitMailbox(keepsTombstones: true, endsWithStack: true)
                isCoalescing = true
            case .gap(let count):
                mailbox = CommitMailbox(commitLimit: Swift.max(count, 1), keepsTombstones: true, endsWithStack: true)
                isCoalescing = false
            }
            try core.observe(mailbox)
        }

        deinit { end() }

        func take() -> StackCommit? {
            let commits = isCoalescing ? mailbox.take() : mailbox.takeFirst().map { [$0] } ?? []
            return commits.isEmpty ? nil : StackCommit(commits, core)
        }

        func end() { core.commits.unsubscribe(mailbox) }
    }
}

extension DataStack {
    /// Returns every commit after this call, by this stack and by other writers, in the order of delivery. Each is delivered after it is
    /// visible to a new fetch.
    ///
    /// ```swift
    /// for await commit in try stack.commits() where commit.isRemote {
    ///     reload(commit.changes.updatedObjectIDs(Person.self))
    /// }
    /// ```
    /// Earlier commits are in the history. A program that must not miss any commit reads `currentHistoryToken` after this call, reads the
    /// history up to that token, and continues here. A server withholds commits from the history while older transactions are open: those
    /// that ended before the call and are not in that history yet are delivered too, as remote ones.
    /// - Parameter buffering: The handling of commits that arrive while the consumer is busy.
    /// - Throws: The error of starting the watch of a store.
    public func commits(_ buffering: StackCommits.Buffering = .coalescing) throws(StorageError) -> StackCommits {
        try reporting { () throws(StorageError) in try StackCommits(core, buffering) }
    }
}
