internal import PolystoreFoundation
internal import PolystoreStorage

extension DataStack {
    /// Ends the work of the stack and closes its stores, for example when the program receives a signal to end.
    ///
    /// From the call on, transactions, reads, and fetches of the stack throw `storeClosed`. Those that have begun or wait for their turn may
    /// end within a time. Then all stores are removed, as by `removeStorage`: a transaction that has not reached its commit fails with
    /// `storeClosed`, and none of its changes are stored. Cancelling the task ends the waiting. A second call does nothing but wait for work
    /// that is still running.
    ///
    /// - Parameter time: The maximum time for which running work is waited for; none by default.
    /// - Returns: Whether all work that had begun has ended.
    /// - Throws: The first error of closing a store. All stores are removed nevertheless.
    @discardableResult
    public func shutdown(draining time: Duration = .zero) async throws -> Bool {
        core.gate.close()
        let end = ContinuousClock.now + time
        while !core.gate.isIdle, ContinuousClock.now < end, !Task.isCancelled { try? await Task.sleep(for: .milliseconds(5)) }
        let hasEnded = core.gate.isIdle
        // Closing waits for commits and servers, which no thread of Swift's pool should do.
        try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
            DispatchQueue.global().async { done.resume(with: Result { try self.removeStorages() }) }
        }
        return hasEnded
    }

    private func removeStorages() throws(StorageError) {
        var failure: StorageError?
        for storage in storages {
            do throws(StorageError) { try removeStorage(storage) } catch {
                // Another call may have removed it.
                if error.code != .notFound { failure = failure ?? error }
            }
        }
        if let failure { throw failure }
    }
}
