#if PostgreSQL
internal import CLibPQ
internal import PolystoreFoundation
internal import PolystoreStorage
internal import Synchronization

/// An interrupt that ends the statement of a connection when the limit of its session ends.
///
/// A request to cancel takes its own route to the server and arrives at any time. A separate thread, for which no session waits, therefore
/// sends it, and a connection for which a request was sent is not used by another session.
final class PostgreSQLInterrupt: Sendable {
    /// The time at which the limit ended.
    private final class End: Sendable {
        let moment = Mutex<ContinuousClock.Instant?>(nil)
    }

    let limit: WorkLimit
    private let end = End()
    private let number: Int

    /// Watches a limit for a connection.
    ///
    /// - Parameter queue: The queue that sends requests to cancel.
    init(_ limit: WorkLimit, _ handle: OpaquePointer, _ queue: DispatchQueue) {
        self.limit = limit
        let request = PostgreSQLCancelRequest(handle), end = end
        number = limit.onEnd {
            end.moment.withLock { $0 = .now }
            queue.async { request.send() }
        }
    }

    deinit { limit.removeInterrupt(number) }

    /// Stops watching the limit. `ended` does not change afterwards.
    @inline(never) func stop() { limit.removeInterrupt(number) }

    /// The time at which the limit ended; nil before.
    var ended: ContinuousClock.Instant? { end.moment.withLock { $0 } }

    /// Returns the error that ended the session, if one did.
    ///
    /// - Parameter cause: The error to explain. If the session waited for a lock until the limit ended, the limit is the reason.
    func error(_ cause: StorageError? = nil) -> StorageError? {
        if ended == nil, cause?.code != .busy { return nil }
        do throws(StorageError) { try limit.check() } catch { return StorageError(error.code, error.message, cause: cause) }
        return nil
    }
}

/// A request to the server to cancel the statement that a connection runs.
///
/// Unchecked: libpq allows `PQcancel` on any thread, also after the connection was closed, and nothing changes the object.
private final class PostgreSQLCancelRequest: @unchecked Sendable {
    private let handle: OpaquePointer?

    init(_ connection: OpaquePointer) { handle = PQgetCancel(connection) }

    deinit { PQfreeCancel(handle) }

    func send() {
        var message = [CChar](repeating: 0, count: 256)
        _ = PQcancel(handle, &message, Int32(message.count))
    }
}
#endif
