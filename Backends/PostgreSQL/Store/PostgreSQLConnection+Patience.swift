#if PostgreSQL
internal import PolystoreFoundation
internal import PolystoreStorage

extension PostgreSQLConnection {
    /// The time that a transaction waits for a lock before it gives way to the sessions that queue behind it.
    private static let patience = "250ms"

    /// Repeats a transaction until it gets its locks or the time is over.
    ///
    /// - Parameters:
    ///   - seconds: The maximum time to try, in seconds.
    ///   - doubt: The error message if the connection is lost during COMMIT.
    func patiently(
        _ seconds: Double, orSaying doubt: String, _ body: () throws(StorageError) -> Void
    ) throws(StorageError) {
        let deadline = Date(timeIntervalSinceNow: seconds)
        while true {
            do throws(StorageError) {
                try execute("BEGIN; SET LOCAL lock_timeout = '\(Self.patience)'")
                try body()
                return try commit(orSaying: doubt)
            } catch {
                if isLost || error.code == .commitOutcomeUnknown { throw error }
                try? execute("ROLLBACK")
                guard error.code == .busy || error.code == .serializationFailure, Date() < deadline else { throw error }
                // The sessions that queued behind the lock go first.
                Threads.pause(seconds: Double.random(in: 0.1...0.5))
            }
        }
    }
}
#endif
