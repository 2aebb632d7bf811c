internal import PolystoreFoundation
internal import PolystoreStorage

extension DataStack {
    /// Ends the work of the stack and closes its stores, for example when the program receives a signal to end.
    ///
    /// From the call on, transactions, reads, fetches, cursors and streams of the stack throw `storeClosed`, except what the closure of a
    /// running transaction or read reads. Those that have begun or wait for their turn may end within a time: a cursor or stream ends with
    /// its last object, when it is closed, and when it is released. Transactions, reads, cursors and streams that have not ended then, and
    /// are not being committed, end with `storeClosed`, also in the middle of a statement, and none of their changes are stored. A server is
    /// also asked to end the statements of fetches. All stores are removed, as by `removeStorage`, and the sequences of commits and of the
    /// values of publishers end. Cancelling the task ends the waiting. A second call does nothing but wait for work that is still running.
    ///
    /// A store that is being added is closed again, and its addition, which is waited for, throws `storeClosed`. Contexts, monitors,
    /// publishers and detached transactions can be used until the stores are removed. Only the running commit of a detached transaction is
    /// waited for.
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
        core.gate.endWork()
        // Closing waits for commits and servers, which no thread of Swift's pool should do.
        try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
            DispatchQueue.global().async {
                let result = Result { try self.removeStorages() }
                self.core.commits.finish()
                done.resume(with: result)
            }
        }
        return hasEnded
    }

    private func removeStorages() throws(StorageError) {
        var failure: StorageError?
        // Again from the first one each time: a store may have been replaced by the target of its move.
        while let storage = storages.first {
            do throws(StorageError) { try removeStorage(storage) } catch {
                // Another call may have removed it.
                if error.code != .notFound { failure = failure ?? error }
            }
        }
        if let failure { throw failure }
    }
}
