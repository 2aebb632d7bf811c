internal import Foundation
public import PolystoreStorage

/// The commits of a stack and of everybody else who writes to its stores, as they are told: `DataStack.commits`.
///
/// It is for one consumer. It holds the stack, and lets go of it when its task is cancelled or nobody holds the sequence any more.
public struct StackCommits: AsyncSequence, Sendable {
    /// A commit, or what several became.
    public typealias Element = StackCommit
    /// It does not fail.
    public typealias Failure = Never

    /// What becomes of commits that come while the consumer is busy. Either way the room that they take is bounded.
    public enum Buffering: Sendable, Hashable {
        /// All become one element: an object that was added and changed was added, and one that was added and deleted is not in it. Of ten
        /// thousand runs of changes at most, a kilobyte of preserved values counting as one; beyond that it says which stores are to be read anew.
        case coalescing
        /// Each is an element, for so many; after more all that wait are one that says which stores are to be read anew.
        case gap(after: Int)
    }

    private let source: Source

    init(_ core: StackCore, _ buffering: Buffering) throws(StorageError) { source = try Source(core, buffering) }

    /// Begins where the sequence was made: what came since then waits.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(source) }

    /// Walks through commits.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let source: Source
        private var arrivals: AsyncStream<Void>.Iterator

        fileprivate init(_ source: Source) {
            self.source = source
            arrivals = source.mailbox.arrivals().makeAsyncIterator()
        }

        /// The next commit; nil once the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> StackCommit? {
            while !Task.isCancelled {
                if let commit = source.take() { return commit }
                if await arrivals.next(isolation: actor) == nil { break }
            }
            source.end()
            return nil
        }

        /// The next commit; nil once the task is cancelled.
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
                mailbox = CommitMailbox(keepsTombstones: true)
                isCoalescing = true
            case .gap(let count):
                mailbox = CommitMailbox(commitLimit: Swift.max(count, 1), keepsTombstones: true)
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
    /// Every commit from this call on, by this stack and by others, in the order in which they are told: each after it is visible to a new
    /// fetch.
    ///
    /// ```swift
    /// for await commit in try stack.commits() where commit.isRemote {
    ///     reload(commit.changes.updatedObjectIDs(Person.self))
    /// }
    /// ```
    /// What was committed before is in the history: a program that has to see everything takes `currentHistoryToken` after this call, reads
    /// the history up to there, and goes on here.
    /// - Parameter buffering: What becomes of commits that come while the consumer is busy.
    /// - Throws: Whatever asking the stores to watch throws.
    public func commits(_ buffering: StackCommits.Buffering = .coalescing) throws(StorageError) -> StackCommits {
        try reporting { () throws(StorageError) in try StackCommits(core, buffering) }
    }
}
