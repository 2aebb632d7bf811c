internal import Foundation
internal import PolystoreStorage

extension DataStack {
    /// Runs a closure in a write transaction on a thread of the stack, and commits when it returns.
    ///
    /// The transaction is serializable against all others, of other processes too. A closure that meets a conflict is run again from the
    /// start; whatever it throws undoes everything and is thrown on.
    /// - Parameters:
    ///   - author: The author that the history names.
    ///   - sourceIdentifier: What observers of the stack are told with the changes, so that who made them knows them again.
    ///   - timeout: The time that the whole may take, conflicts and waiting for other writers included; nil for no limit. It is looked
    ///     at between the verbs of the transaction, as cancellation of the task is.
    ///   - body: The work. It runs wholly on one thread and must not wait for another transaction of the same stack.
    /// - Returns: What the closure returned, after the commit.
    /// - Throws: What the closure threw; `timeout` and `cancelled`, then nothing was changed; what committing throws.
    public func perform<R: Sendable>(
        author: TransactionAuthor = .none, sourceIdentifier: (any Hashable & Sendable)? = nil, timeout: Duration? = nil,
        _ body: @escaping @Sendable (Transaction) throws -> R
    ) async throws -> R {
        try checkReentrancy()
        let core = core, limit = WorkLimit(timeout: timeout), measured = Measured(core, .write, author.name)
        return try await withTaskCancellationHandler {
            try await core.workers.run {
                try reportingOurs(functionName: "perform(author:sourceIdentifier:timeout:_:)") {
                    var runner = TransactionRunner(core, author: author.name, source: sourceIdentifier, limit: limit)
                    return try runner.run(measured, body)
                }
            }
        } onCancel: {
            limit.cancel()
        }
    }

    /// Runs a closure in a write transaction on the calling thread, and commits when it returns.
    public func perform<R>(
        author: TransactionAuthor = .none, sourceIdentifier: (any Hashable & Sendable)? = nil, timeout: Duration? = nil,
        synchronous body: (Transaction) throws -> R
    ) throws -> R {
        try checkReentrancy()
        var runner = TransactionRunner(core, author: author.name, source: sourceIdentifier, limit: WorkLimit(timeout: timeout))
        let measured = Measured(core, .write, author.name)
        return try reportingOurs { try runner.run(measured, body) }
    }

    /// Runs a closure in a write transaction on a thread of the stack; the completion is called there with how it ended.
    public func perform<R: Sendable>(
        author: TransactionAuthor = .none, sourceIdentifier: (any Hashable & Sendable)? = nil,
        asynchronous body: @escaping @Sendable (Transaction) throws -> R,
        completion: @escaping @Sendable (Result<R, any Error>) -> Void
    ) {
        do throws(StorageError) { try checkReentrancy() } catch { return completion(.failure(error)) }
        let core = core, measured = Measured(core, .write, author.name)
        // Not a task: programs that block Swift's threads, on a semaphore for this very completion perhaps, would wait for ever.
        core.workers.submit {
            completion(
                Result {
                    try reportingOurs(functionName: "perform(author:sourceIdentifier:asynchronous:completion:)") {
                        var runner = TransactionRunner(core, author: author.name, source: sourceIdentifier, limit: WorkLimit())
                        return try runner.run(measured, body)
                    }
                })
        }
    }

    /// Runs a closure in a write transaction on a thread of the stack; one of the handlers is called there.
    public func perform<R: Sendable>(
        author: TransactionAuthor = .none, sourceIdentifier: (any Hashable & Sendable)? = nil,
        asynchronous body: @escaping @Sendable (Transaction) throws -> R,
        success: @escaping @Sendable (R) -> Void, failure: @escaping @Sendable (any Error) -> Void
    ) {
        perform(author: author, sourceIdentifier: sourceIdentifier, asynchronous: body) { result in
            switch result {
            case .success(let value): success(value)
            case .failure(let error): failure(error)
            }
        }
    }

    /// Runs a closure that reads one committed snapshot of each store, on a thread of the stack.
    public func read<R: Sendable>(_ body: @escaping @Sendable (ReadTransaction) throws -> R) async throws -> R {
        let core = core, limit = WorkLimit(), measured = Measured(core, .read, "")
        return try await withTaskCancellationHandler {
            try await core.workers.run { try reportingOurs(functionName: "read(_:)") { try Self.runRead(core, limit, measured, body) } }
        } onCancel: {
            limit.cancel()
        }
    }

    /// Runs a closure that reads one committed snapshot of each store, on the calling thread.
    public func read<R>(synchronous body: (ReadTransaction) throws -> R) throws -> R {
        try reportingOurs { try Self.runRead(core, WorkLimit(), Measured(core, .read, ""), body) }
    }

    private static func runRead<R>(
        _ core: StackCore, _ limit: WorkLimit, _ measured: Measured?, _ body: (ReadTransaction) throws -> R
    ) throws -> R {
        do {
            let result = try runRead(core, limit, body)
            measured?.end(Measured.Counts(), nil)
            return result
        } catch {
            measured?.end(Measured.Counts(), error)
            throw error
        }
    }

    private static func runRead<R>(_ core: StackCore, _ limit: WorkLimit, _ body: (ReadTransaction) throws -> R) throws -> R {
        let transaction = ReadTransaction(core, limit)
        defer { transaction.finish() }
        let result = try body(transaction)
        try transaction.context.throwFailure()
        return result
    }

    private func checkReentrancy() throws(StorageError) {
        if TransactionRunner.active.contains(ObjectIdentifier(core)) {
            try reporting { () throws(StorageError) in
                throw StorageError(
                    .reentrantCall,
                    "a transaction of this stack was started from inside another; use the transaction that is already there")
            }
        }
    }
}
