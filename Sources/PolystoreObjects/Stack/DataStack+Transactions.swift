public import PolystoreFoundation
package import PolystoreStorage

extension DataStack {
    /// Runs a closure in a write transaction on a thread of the stack, and commits when the closure returns.
    ///
    /// The transaction is serializable with respect to all other transactions, including those of other processes. After a conflict the
    /// closure is run again from the start. If the closure throws, all changes are undone and the error is rethrown.
    ///
    /// Closures begin in the order in which they were submitted. If every store of the stack allows several concurrent writers, some
    /// closures may run at the same time; otherwise each begins after the previous one was committed or undone. A waiting closure does not
    /// occupy a thread. Commits that wait for the disk at the same time are flushed to it together, where the store can do so.
    /// - Parameters:
    ///   - author: The author that is recorded in the history.
    ///   - sourceIdentifier: A value that observers of the stack receive with the changes, so that the originator can recognize them.
    ///   - timeout: The maximum total duration, including conflicts and waiting for other writers; nil for no limit. The timeout, like the
    ///     cancellation of the task, ends any waiting immediately and is also checked inside the stores.
    ///   - body: The work. It runs on a single thread and must not wait for another transaction of the same stack.
    /// - Returns: The result of the closure, after the commit.
    /// - Throws: Any error of the closure; `timeout` and `cancelled`, after which nothing was changed; `reentrantCall` inside the closure
    ///   of a transaction of the stack; any error of the commit.
    @discardableResult
    public func perform<R: Sendable>(
        author: TransactionAuthor = .none, sourceIdentifier: (any Hashable & Sendable)? = nil, timeout: Duration? = nil,
        _ body: @escaping @Sendable (WriteTransaction) throws -> R
    ) async throws -> R {
        let core = core, limit = WorkLimit(timeout: timeout)
        try begin(limit)
        defer { core.gate.leave(limit) }
        let measured = Measured(core, .write, author.name)
        return try await core.workers.writes.run(limit, inside: RunningTransaction.around(core)) { refusal, turn in
            try reportingOurs(functionName: "perform(author:sourceIdentifier:timeout:_:)") {
                var runner = TransactionRunner(core, author: author.name, source: sourceIdentifier, limit: limit, turn: turn)
                return try runner.run(measured, unless: refusal, body)
            }
        }
    }

    /// Runs a closure in a write transaction on the calling thread, and commits when the closure returns.
    ///
    /// The call waits for the closures that were submitted before with `perform(asynchronous:)`, and for other writers in the stores. Such a
    /// closure must therefore not wait for the calling thread, for example with `DispatchQueue.main.sync` for the main thread.
    ///
    /// - Throws: Any error of the closure; `timeout`, after which nothing was changed; `reentrantCall` inside the closure of a transaction
    ///   of the stack; any error of the commit.
    @discardableResult
    public func perform<R>(
        author: TransactionAuthor = .none, sourceIdentifier: (any Hashable & Sendable)? = nil, timeout: Duration? = nil,
        synchronous body: (WriteTransaction) throws -> R
    ) throws -> R {
        try perform(author: author, sourceIdentifier: sourceIdentifier, limit: WorkLimit(timeout: timeout), synchronous: body)
    }

    /// Runs a closure in a write transaction on the calling thread, within a limit that another thread may end.
    @discardableResult
    package func perform<R>(
        author: TransactionAuthor = .none, sourceIdentifier: (any Hashable & Sendable)? = nil, limit: WorkLimit,
        synchronous body: (WriteTransaction) throws -> R
    ) throws -> R {
        try begin(limit)
        defer { core.gate.leave(limit) }
        var runner = TransactionRunner(core, author: author.name, source: sourceIdentifier, limit: limit)
        let measured = Measured(core, .write, author.name)
        return try reportingOurs {
            let refusal = core.workers.writes.waitForSerialWork(limit, inside: RunningTransaction.around(core))
            return try runner.run(measured, unless: refusal, body)
        }
    }

    /// Runs a closure in a write transaction on a thread of the stack.
    ///
    /// Closures submitted with this method run strictly one after the other, in the order of their submission, regardless of the stores.
    /// - Parameters:
    ///   - author: The author that is recorded in the history.
    ///   - sourceIdentifier: A value that observers of the stack receive with the changes.
    ///   - timeout: The maximum total duration, including waiting for other writers; nil for no limit.
    ///   - queue: The queue on which the completion is called; nil for the stack's own serial queue.
    ///   - body: The work.
    ///   - completion: A closure that is called with the result, after the observers of the stack have been notified of the commit, and on
    ///     the main queue after the commit was merged into `viewContext` and its monitors. The wait for the notification is limited to one
    ///     second, which expires for example if an unreachable server cannot determine the order of this commit and those of other
    ///     processes.
    @_disfavoredOverload  // for that of the compatibility product, where it is imported
    public func perform<R: Sendable>(
        author: TransactionAuthor = .none, sourceIdentifier: (any Hashable & Sendable)? = nil, timeout: Duration? = nil,
        asynchronous body: @escaping @Sendable (WriteTransaction) throws -> R, on queue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<R, any Error>) -> Void
    ) {
        let core = core, queue = queue ?? core.completions
        let limit = WorkLimit(timeout: timeout)
        do throws(StorageError) { try begin(limit) } catch { return queue.async { completion(.failure(error)) } }
        let measured = Measured(core, .write, author.name)
        // Not a task: a program that blocks Swift's threads, for example on a semaphore for this completion, would wait forever.
        core.workers.writes.submit(limit, isSerial: true, inside: RunningTransaction.around(core)) { [weak self] refusal, turn in
            let result = Result {
                try reportingOurs(functionName: "perform(author:sourceIdentifier:timeout:asynchronous:on:completion:)") {
                    var runner = TransactionRunner(core, author: author.name, source: sourceIdentifier, limit: limit, turn: turn)
                    return try runner.run(measured, unless: refusal, body)
                }
            }
            core.gate.leave(limit)
            if refusal == nil { core.commits.waitForDelivery(atMost: 1) }
            queue.async { [weak self] in
                if MainQueue.isCurrent { MainActor.assumeIsolated { self?.mergeIntoMainContext() } }
                completion(result)
            }
        }
    }

    /// Runs a closure in a write transaction on a thread of the stack, and calls one of two handlers in place of a completion.
    @_disfavoredOverload  // for that of the compatibility product, where it is imported
    public func perform<R: Sendable>(
        author: TransactionAuthor = .none, sourceIdentifier: (any Hashable & Sendable)? = nil, timeout: Duration? = nil,
        asynchronous body: @escaping @Sendable (WriteTransaction) throws -> R, on queue: DispatchQueue? = nil,
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
    /// The closure sees a transaction of the stack over several stores in all of them or in none. If such a transaction was committed
    /// between the closure's first access to one store and its first access to another one, the closure is run again from the start.
    ///
    /// Reads never wait for writers, because they have their own threads. One closure for each core runs at a time, at least six; over stores
    /// with a pool of connections (``StorageCapabilities/maximumReaders``) as many as the smallest pool serves beside streams and observers.
    /// Others wait for their turn (``DataStack/queueStatistics``).
    /// - Parameters:
    ///   - timeout: The maximum total duration, including waiting for other reads; nil for no limit. The timeout, like the cancellation of
    ///     the task, ends any waiting immediately and is also checked inside the stores.
    ///   - body: The work.
    /// - Throws: Any error of the closure; `timeout` and `cancelled`.
    public func read<R: Sendable>(
        timeout: Duration? = nil, _ body: @escaping @Sendable (ReadTransaction) throws -> R
    ) async throws -> R {
        let core = core, limit = WorkLimit(reading: timeout)
        try beginRead(limit)
        defer { core.gate.leave(limit) }
        let measured = Measured(core, .read, "")
        return try await core.workers.reads.run(limit) { refusal, _ in
            try reportingOurs(functionName: "read(timeout:_:)") { try Self.runRead(core, limit, measured, unless: refusal, body) }
        }
    }

    /// Runs a closure that reads one committed snapshot of each store, on the calling thread.
    ///
    /// - Parameters:
    ///   - timeout: The maximum total duration; nil for no limit.
    ///   - body: The work.
    public func read<R>(timeout: Duration? = nil, synchronous body: (ReadTransaction) throws -> R) throws -> R {
        let limit = WorkLimit(reading: timeout)
        try beginRead(limit)
        defer { core.gate.leave(limit) }
        return try reportingOurs { try Self.runRead(core, limit, Measured(core, .read, ""), body) }
    }

    private static func runRead<R>(
        _ core: StackCore, _ limit: WorkLimit, _ measured: Measured?, unless refusal: StorageError? = nil,
        _ body: (ReadTransaction) throws -> R
    ) throws -> R {
        do {
            if let refusal { throw refusal }
            let result = try RunningTransaction.run(core, isRead: true) { try ReadTransaction.run(core, limit, body) }
            measured?.end(Measured.Counts(), nil)
            return result
        } catch {
            measured?.end(Measured.Counts(), error)
            throw error
        }
    }

    /// Waits until subscribers have received every commit that ended before the call, for at most the given number of seconds.
    package func waitForDelivery(atMost seconds: Double) { core.commits.waitForDelivery(atMost: seconds) }

    private func begin(_ limit: WorkLimit) throws(StorageError) {
        try reporting { () throws(StorageError) in
            try core.checkReentrancy()
            try core.gate.enter(limit)
        }
    }

    private func beginRead(_ limit: WorkLimit) throws(StorageError) {
        try reporting { () throws(StorageError) in try core.beginWork(limit) }
    }
}

extension DataStack {
    /// Begins a transaction that is not tied to a closure. It ends when the program releases it.
    ///
    /// - Parameters:
    ///   - author: The author that is recorded in the history.
    ///   - supportsUndo: Whether states are kept for `undo` and `redo`.
    ///   - sourceIdentifier: A value that observers of the stack receive with the changes of each commit.
    public func beginUnsafe(
        author: TransactionAuthor = .none, supportsUndo: Bool = false, sourceIdentifier: (any Hashable & Sendable)? = nil
    ) -> sending UnsafeTransaction {
        UnsafeTransaction(core, author: author, source: sourceIdentifier, supportsUndo: supportsUndo)
    }
}
