internal import Foundation
internal import PolystoreStorage
internal import Synchronization

/// The result of work on another thread, for which a thread waits.
final class Waiting<Value: Sendable>: Sendable {
    private let result = Mutex<Result<Value, StorageError>?>(nil)
    private let isFinished = DispatchSemaphore(value: 0)

    /// Keeps the result, and ends the wait.
    func finish(_ result: Result<Value, StorageError>) {
        self.result.withLock { $0 = result }
        isFinished.signal()
    }

    /// Waits for the result.
    func wait() throws(StorageError) -> Value {
        isFinished.wait()
        guard let result = result.withLock({ $0 }) else { throw StorageError(.cancelled, "the work ended without a result") }
        return try result.get()
    }
}
