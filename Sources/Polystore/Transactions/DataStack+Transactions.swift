public import Foundation
internal import PolystoreStorage

extension DataStack {
    /// Runs a closure in a write transaction on a thread of the stack, and commits when it returns.
    ///
    /// The transaction is serializable against all others, of other processes too. A closure that meets a conflict is run again from the
    /// start; whatever it throws undoes everything and is thrown on.
    ///
    /// Closures begin in the order in which they were submitted. Where every store of the stack takes several writers at once, some may go on
    /// at the same time; elsewhere each begins after the end of the one before. None that waits takes a thread.
    /// - Parameters:
    ///   - author: The author that the history names.
    ///   - sourceIdentifier: What observers of the stack are told with the changes, so that who made them knows them again.
    ///   - timeout: The time that the whole may take, conflicts and waiting for other writers included; nil for no limit. The end of it, like
    ///     the cancellation of the task, ends the waiting at once and is noticed inside the stores.
    ///   - body: The work. It runs wholly on one thread and must not wait for another transaction of the same stack.
    /// - Returns: What the closure returned, after the commit.
    /// - Throws: What the closure threw; `timeout` and `cancelled`, then nothing was changed; `reentrantCall` inside the closure of a
    ///   transaction of the stack; what committing throws.
    public func perform<R: Sendable>(
        author: TransactionAuthor = .none, sourceIdentifier: (any Hashable & Sendable)? = nil, timeout: Duration? = nil,
        _ body: @escaping @Sendable (Transaction) throws -> R
    ) async throws -> R {
        try checkReentrancy()
        let core = core, limit = WorkLimit(timeout: timeout), measured = Measured(core, .write, author.name)
        return try await core.workers.writes.run(limit, inside: RunningTransaction.around(core)) { refusal in
            try reportingOurs(functionName: "perform(author:sourceIdentifier:timeout:_:)") {
                var runner = TransactionRunner(core, author: author.name, source: sourceIdentifier, limit: limit)
                return try runner.run(measured, unless: refusal, body)
            }
        }
    }

    /// Runs a closure in a write transaction on the calling thread, and commits when it returns.
    ///
    /// It waits for other writers in the stores, and not for closures that the stack has not begun yet.
    public func perform<R>(
        author: TransactionAuthor = .none, sourceIdentifier: (any Hashable & Sendable)? = nil, timeout: Duration? = nil,
        synchronous body: (Transaction) throws -> R
    ) throws -> R {
        try checkReentrancy()
        var runner = TransactionRunner(core, author: author.name, source: sourceIdentifier, limit: WorkLimit(timeout: timeout))
        let measured = Measured(core, .write, author.name)
        return try reportingOurs { try runner.run(measured, body) }
    }

    /// Runs a closure in a write transaction on a thread of the stack.
    ///
    /// Closures that are submitted so run strictly one after the other, in the order in which they were submitted, whatever the stores are.
    /// - Parameters:
    ///   - author: The author that the history names.
    ///   - sourceIdentifier: What observers of the stack are told with the changes.
    ///   - timeout: The time that the whole may take, waiting for other writers included; nil for no limit.
    ///   - queue: Where the completion is called; nil for the stack's own queue, on which completions are called one after the other.
    ///   - body: The work.
    ///   - completion: Called with how it ended, when the observers of the stack have been notified of the commit. Where the store cannot
    ///     tell the order of it and the commits of others, such as a server that is out of reach, it is not waited for longer than a second.
    public func perform<R: Sendable>(
        author: TransactionAuthor = .none, sourceIdentifier: (any Hashable & Sendable)? = nil, timeout: Duration? = nil,
        asynchronous body: @escaping @Sendable (Transaction) throws -> R, on queue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<R, any Error>) -> Void
    ) {
        let core = core, queue = queue ?? core.completions
        do throws(StorageError) { try checkReentrancy() } catch { return queue.async { completion(.failure(error)) } }
        let limit = WorkLimit(timeout: timeout), measured = Measured(core, .write, author.name)
        // Not a task: programs that block Swift's threads, on a semaphore for this very completion perhaps, would wait for ever.
        core.workers.writes.submit(limit, isSerial: true, inside: RunningTransaction.around(core)) { refusal in
            let result = Result {
                try reportingOurs(functionName: "perform(author:sourceIdentifier:timeout:asynchronous:on:completion:)") {
                    var runner = TransactionRunner(core, author: author.name, source: sourceIdentifier, limit: limit)
                    return try runner.run(measured, unless: refusal, body)
                }
            }
            if refusal == nil { core.commits.waitForDelivery(atMost: 1) }
            queue.async { completion(result) }
        }
    }

    /// Runs a closure in a write transaction on a thread of the stack; one of the handlers is called where a completion would be.
    public func perform<R: Sendable>(
        author: TransactionAuthor = .none, sourceIdentifier: (any Hashable & Sendable)? = nil, timeout: Duration? = nil,
        asynchronous body: @escaping @Sendable (Transaction) throws -> R, on queue: DispatchQueue? = nil,
        success: @escaping @Sendable (R) -> Void, failure: @escaping @Sendable (any Error) -> Void
    ) {
        perform(author: author, sourceIdentifier: sourceIdentifier, timeout: timeout, asynchronous: body, on: queue) { result in
            switch result {
            case .success(let value): success(value)
            case .failure(let error): failure(error)
            }
        }
    }

    /// Runs a closure that reads one committed snapshot of each store, on a thread of the stack.
    ///
    /// It sees a transaction of the stack over several stores in all of them or in none. A closure that comes to a second store when one was
    /// committed in between is run again from the start.
    ///
    /// It never waits for writers: reads have threads of their own.
    /// - Parameters:
    ///   - timeout: The time that the whole may take, waiting for other reads included; nil for no limit. The end of it, like the
    ///     cancellation of the task, ends the waiting at once and is noticed inside the stores.
    ///   - body: The work.
    /// - Throws: What the closure threw; `timeout` and `cancelled`.
    public func read<R: Sendable>(
        timeout: Duration? = nil, _ body: @escaping @Sendable (ReadTransaction) throws -> R
    ) async throws -> R {
        let core = core, limit = WorkLimit(timeout: timeout), measured = Measured(core, .read, "")
        return try await core.workers.reads.run(limit) { refusal in
            try reportingOurs(functionName: "read(timeout:_:)") { try Self.runRead(core, limit, measured, unless: refusal, body) }
        }
    }

    /// Runs a closure that reads one committed snapshot of each store, on the calling thread.
    ///
    /// - Parameters:
    ///   - timeout: The time that the whole may take; nil for no limit.
    ///   - body: The work.
    public func read<R>(timeout: Duration? = nil, synchronous body: (ReadTransaction) throws -> R) throws -> R {
        try reportingOurs { try Self.runRead(core, WorkLimit(timeout: timeout), Measured(core, .read, ""), body) }
    }

    private static func runRead<R>(
        _ core: StackCore, _ limit: WorkLimit, _ measured: Measured?, unless refusal: StorageError? = nil,
        _ body: (ReadTransaction) throws -> R
    ) throws -> R {
        do {
            if let refusal { throw refusal }
            let result = try ReadTransaction.run(core, limit, body)
            measured?.end(Measured.Counts(), nil)
            return result
        } catch {
            measured?.end(Measured.Counts(), error)
            throw error
        }
    }

    private func checkReentrancy() throws(StorageError) { try reporting { () throws(StorageError) in try core.checkReentrancy() } }
}
