#if PostgreSQL
internal import CLibPQ
internal import Foundation
internal import PolystoreStorage
internal import Synchronization

/// Ends what a connection runs when the limit of the session that uses the connection ends.
///
/// A request to cancel takes a way of its own to the server and arrives whenever it does. So it is sent from a thread that nobody waits for,
/// and a connection for which one was sent is used by no other session.
final class PostgreSQLInterrupt: Sendable {
    /// When the limit ended.
    private final class End: Sendable {
        let moment = Mutex<ContinuousClock.Instant?>(nil)
    }

    let limit: WorkLimit
    private let end = End()
    private let number: Int

    /// Watches a limit for a connection.
    ///
    /// - Parameter queue: Where requests to cancel are sent from.
    init(_ limit: WorkLimit, _ handle: OpaquePointer, _ queue: DispatchQueue) {
        self.limit = limit
        let request = PostgreSQLCancelRequest(handle), end = end
        number = limit.onEnd {
            end.moment.withLock { $0 = .now }
            queue.async { request.send() }
        }
    }

    deinit { limit.removeInterrupt(number) }

    /// Watches no longer; `ended` does not change any more.
    @inline(never) func stop() { limit.removeInterrupt(number) }

    /// When the limit ended; nil before.
    var ended: ContinuousClock.Instant? { end.moment.withLock { $0 } }

    /// What ended the session, where something did.
    ///
    /// - Parameter cause: The error that is explained; one of a lock that was waited for until the limit ended is the limit's.
    func error(_ cause: StorageError? = nil) -> StorageError? {
        if ended == nil, cause?.code != .busy { return nil }
        do throws(StorageError) { try limit.check() } catch { return StorageError(error.code, error.message, cause: cause) }
        return nil
    }
}

/// A request to the server to end what a connection runs.
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
