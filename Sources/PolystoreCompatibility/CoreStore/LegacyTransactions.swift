internal import Dispatch
public import Polystore
internal import Synchronization

/// Passes the completion that a closure registers to the queue on which it is called.
private final class SaveHandler: Sendable {
    private let completion = Mutex<(@Sendable (SaveResult) -> Void)?>(nil)

    /// Sets the completion. A closure that is repeated sets it again.
    func set(_ completion: (@Sendable (SaveResult) -> Void)?) { self.completion.withLock { $0 = completion } }

    func call(_ result: Result<SaveResult, any Error>) {
        let completion = completion.withLock { $0 }
        do { completion?(try result.get()) } catch { completion?(.failure(error)) }
    }
}

/// An error that is thrown to undo uncommitted changes.
private struct Uncommitted: Error {}

extension DataStack {
    /// Runs a closure in the background. Uncommitted changes are undone, with a warning to the logger.
    public func beginAsynchronous(_ body: sending @escaping (LegacyAsynchronousTransaction) throws -> Void) {
        let body = Carried(body), handler = SaveHandler()
        perform(
            asynchronous: { transaction in
                let legacy = LegacyAsynchronousTransaction(transaction)
                defer { handler.set(legacy.completion) }
                try body.content(legacy)
                if !legacy.isCommitted { try Self.warn(transaction) }
                return legacy.hadChanges
            }, on: .main
        ) { result in handler.call(result.map { .success(hasChanges: $0) }) }
    }

    /// Runs a closure and waits for it. Uncommitted changes are undone, with a warning to the logger.
    public func beginSynchronous(_ body: (LegacyTransaction) throws -> Void) throws {
        do {
            try perform(
                sourceIdentifier: nil,
                synchronous: { transaction in
                    let legacy = LegacyTransaction(transaction)
                    try body(legacy)
                    if !legacy.isCommitted { try Self.warn(transaction) }
                })
        } catch is Uncommitted {}
    }

    /// Begins a detached transaction, which is not tied to a closure.
    public func beginDetached() -> sending UnsafeTransaction { beginUnsafe() }

    private static func warn(_ transaction: WriteTransaction) throws {
        if transaction.hasChanges {
            StoreLogging.logger.log(
                level: .warning, message: "a transaction ended with uncommitted changes, which were rolled back", fileName: #fileID,
                lineNumber: #line, functionName: #function)
        }
        throw Uncommitted()
    }
}

extension CoreStore {
    /// Runs a closure in the background. Uncommitted changes are undone.
    public static func beginAsynchronous(_ body: sending @escaping (LegacyAsynchronousTransaction) throws -> Void) {
        defaultStack.beginAsynchronous(body)
    }

    /// Runs a closure and waits for it. Uncommitted changes are undone.
    public static func beginSynchronous(_ body: (LegacyTransaction) throws -> Void) throws { try defaultStack.beginSynchronous(body) }

    /// Begins a detached transaction, which is not tied to a closure.
    public static func beginDetached() -> sending UnsafeTransaction { defaultStack.beginDetached() }
}
