internal import Dispatch
public import Polystore

extension DataStack {
    /// Runs a closure in a write transaction in the background, and commits when it returns.
    ///
    /// - Parameters:
    ///   - body: The work. It may capture objects of other contexts (to `edit` them) and return objects of its own (to `fetchExisting` them),
    ///     because no other code uses their context meanwhile. Closures run one after the other, in the order of the calls.
    ///   - sourceIdentifier: A value that observers of the stack receive with the changes.
    ///   - completion: A closure that is called on the main queue, after the observers of the stack were notified of the commit. An error that
    ///     `body` throws is the cause of a `userError`.
    public func perform<R>(
        asynchronous body: sending @escaping (WriteTransaction) throws -> R, sourceIdentifier: (any Hashable & Sendable)? = nil,
        completion: @escaping @MainActor (Result<R, CoreStoreError>) -> Void
    ) {
        run(body, sourceIdentifier) { completion($0.mapError { CoreStoreError($0) }) }
    }

    /// Runs a closure in a write transaction in the background, then calls one of the handlers on the main queue. An error that the closure
    /// throws is the cause of a `userError`.
    public func perform<R>(
        asynchronous body: sending @escaping (WriteTransaction) throws -> R, sourceIdentifier: (any Hashable & Sendable)? = nil,
        success: @escaping @MainActor (R) -> Void, failure: @escaping @MainActor (CoreStoreError) -> Void
    ) {
        run(body, sourceIdentifier) { result in
            switch result {
            case .success(let value): success(value)
            case .failure(let error): failure(CoreStoreError(error))
            }
        }
    }

    /// Runs a closure in a write transaction and commits when it returns.
    ///
    /// - Parameters:
    ///   - body: The work.
    ///   - waitForAllObservers: Whether to wait, for at most one second, until the commit was delivered to the observers of the stack. On the
    ///     thread of the main actor, the commit is merged into `viewContext`, and its monitors have called their observers.
    ///   - sourceIdentifier: A value that observers of the stack receive with the changes.
    /// - Throws: `userCancelled` after `cancel()`; a `userError` whose cause is an error that the closure throws; any error of the commit.
    public func perform<R>(
        synchronous body: (WriteTransaction) throws -> R, waitForAllObservers: Bool, sourceIdentifier: (any Hashable & Sendable)? = nil
    ) throws(CoreStoreError) -> R {
        let result: R
        do { result = try perform(sourceIdentifier: sourceIdentifier, synchronous: body) } catch { throw CoreStoreError(error) }
        if waitForAllObservers { waitForObservers() }
        return result
    }

    /// Runs a closure in a write transaction and commits when it returns. Waits until the commit was delivered to observers.
    ///
    /// - Throws: `userCancelled` after `cancel()`; a `userError` whose cause is an error that the closure throws; any error of the commit.
    public func perform<R>(
        synchronous body: (WriteTransaction) throws -> R, sourceIdentifier: (any Hashable & Sendable)?
    ) throws(CoreStoreError) -> R {
        try perform(synchronous: body, waitForAllObservers: true, sourceIdentifier: sourceIdentifier)
    }

    /// Runs a closure in a write transaction and commits when it returns. Waits until the commit was delivered to observers.
    ///
    /// - Throws: `userCancelled` after `cancel()`; a `userError` whose cause is an error that the closure throws; any error of the commit.
    @discardableResult
    public func perform<R>(synchronous body: (WriteTransaction) throws -> R) throws(CoreStoreError) -> R {
        try perform(synchronous: body, waitForAllObservers: true)
    }

    private func waitForObservers() {
        waitForDelivery(atMost: 1)
        // The main actor, which waits here, could not merge the commit by itself.
        if MainQueue.isCurrent { MainActor.assumeIsolated { mergeIntoMainContext() } }
    }

    fileprivate func run<R>(
        _ body: sending @escaping (WriteTransaction) throws -> R, _ sourceIdentifier: (any Hashable & Sendable)?,
        _ completion: @escaping @MainActor (Result<R, any Error>) -> Void
    ) {
        let body = Carried(body)
        perform(
            sourceIdentifier: sourceIdentifier, asynchronous: { transaction in Carried(try body.content(transaction)) }, on: .main
        ) { result in
            // The main queue is the executor of the main actor.
            MainActor.assumeIsolated { completion(result.map(\.content)) }
        }
    }
}

extension CoreStore {
    /// Runs a closure in a write transaction of the default stack in the background, and commits when it returns.
    ///
    /// The closure may capture objects of other contexts (to `edit` them) and return objects of its own (to `fetchExisting` them), because
    /// no other code uses their context meanwhile. Closures run one after the other, in the order in which they were submitted. The
    /// completion is called on the main queue after the observers of the stack were notified of the commit.
    public static func perform<R>(
        asynchronous body: sending @escaping (WriteTransaction) throws -> R, sourceIdentifier: (any Hashable & Sendable)? = nil,
        completion: @escaping @MainActor (Result<R, CoreStoreError>) -> Void
    ) {
        defaultStack.perform(asynchronous: body, sourceIdentifier: sourceIdentifier, completion: completion)
    }

    /// Runs a closure in a write transaction of the default stack in the background, then calls one of the handlers on the main queue. An
    /// error that the closure throws is the cause of a `userError`.
    public static func perform<R>(
        asynchronous body: sending @escaping (WriteTransaction) throws -> R, sourceIdentifier: (any Hashable & Sendable)? = nil,
        success: @escaping @MainActor (R) -> Void, failure: @escaping @MainActor (CoreStoreError) -> Void
    ) {
        defaultStack.perform(asynchronous: body, sourceIdentifier: sourceIdentifier, success: success, failure: failure)
    }

    /// Runs a closure in a write transaction of the default stack in the background, then calls one of the handlers on the main queue. The
    /// failure is the error that the closure throws, for a handler that matches it by its own type: `case Errors.InvalidNameError`.
    @_disfavoredOverload
    public static func perform<R>(
        asynchronous body: sending @escaping (WriteTransaction) throws -> R, sourceIdentifier: (any Hashable & Sendable)? = nil,
        success: @escaping @MainActor (R) -> Void, failure: @escaping @MainActor (any Error) -> Void
    ) {
        defaultStack.run(body, sourceIdentifier) { result in
            switch result {
            case .success(let value): success(value)
            case .failure(let error): failure(error)
            }
        }
    }

    /// Runs a closure in a write transaction of the default stack and commits when it returns.
    ///
    /// - Parameters:
    ///   - body: The work.
    ///   - waitForAllObservers: Whether to wait, for at most one second, until the commit was delivered to the observers of the stack.
    ///   - sourceIdentifier: A value that observers of the stack receive with the changes.
    /// - Throws: `userCancelled` after `cancel()`; a `userError` whose cause is an error that the closure throws; any error of the commit.
    public static func perform<R>(
        synchronous body: (WriteTransaction) throws -> R, waitForAllObservers: Bool = true,
        sourceIdentifier: (any Hashable & Sendable)? = nil
    ) throws(CoreStoreError) -> R {
        try defaultStack.perform(synchronous: body, waitForAllObservers: waitForAllObservers, sourceIdentifier: sourceIdentifier)
    }

    /// Runs a closure in a write transaction on a thread of the default stack, and commits when the closure returns. An error that the closure
    /// throws is the cause of a `userError`.
    @discardableResult
    public static func perform<R: Sendable>(
        _ body: @escaping @Sendable (WriteTransaction) throws -> R
    ) async throws(CoreStoreError) -> R {
        try await defaultStack.async.perform(body)
    }

    /// Runs a closure that reads one committed snapshot of each store of the default stack, on the calling thread.
    public static func read<R>(synchronous body: (ReadTransaction) throws -> R) throws -> R {
        try defaultStack.read(synchronous: body)
    }

    /// Runs a closure that reads one committed snapshot of each store of the default stack, on a thread of the stack.
    public static func read<R: Sendable>(_ body: @escaping @Sendable (ReadTransaction) throws -> R) async throws -> R {
        try await defaultStack.read(body)
    }

    /// Begins a detached transaction, which is not tied to a closure.
    public static func beginUnsafe(
        supportsUndo: Bool = false, sourceIdentifier: (any Hashable & Sendable)? = nil
    ) -> sending UnsafeTransaction {
        defaultStack.beginUnsafe(supportsUndo: supportsUndo, sourceIdentifier: sourceIdentifier)
    }
}
