#if SQLite
internal import CSQLite
internal import PolystoreFoundation
internal import PolystoreStorage

/// The waits and the interruption of a connection. The engine calls this object while a statement runs and while another connection holds a
/// lock.
final class SQLiteWaiting {
    /// The number of engine instructions between two checks of the limit: a fraction of a millisecond.
    private static let instructions: Int32 = 4096
    /// The pauses while another connection holds a lock, in seconds. The last one is repeated.
    private static let pauses = [0.001, 0.002, 0.005, 0.010]

    /// The maximum time to wait for a lock, in seconds.
    var patience: TimeInterval = 0
    /// The limit of the current transaction's statements and waits; nil once its COMMIT has begun.
    var limit: WorkLimit?
    /// Whether the store was closed, so that a wait for a lock has to end.
    var isClosed: () -> Bool = { false }
    private var began = ContinuousClock.now

    /// Whether statements and waits have to end.
    var isOver: Bool { limit?.hasEnded == true }

    /// Makes a connection call this object, which must live as long as the connection.
    func attach(to handle: OpaquePointer) {
        let pointer = Unmanaged.passUnretained(self).toOpaque()
        sqlite3_progress_handler(handle, Self.instructions, { SQLiteWaiting.of($0)?.isOver == false ? 0 : 1 }, pointer)
        sqlite3_busy_handler(handle, { SQLiteWaiting.of($0)?.goesOn(attempt: Int($1)) == true ? 1 : 0 }, pointer)
    }

    /// Returns the object that the engine's pointer refers to. Without one, the statement is interrupted and the wait ends.
    private static func of(_ pointer: UnsafeMutableRawPointer?) -> SQLiteWaiting? {
        pointer.map { Unmanaged<SQLiteWaiting>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Waits a moment for a lock. Returns false when the time is over.
    private func goesOn(attempt: Int) -> Bool {
        if attempt == 0 { began = .now }
        if isOver || isClosed() || began.duration(to: .now) >= .seconds(patience) { return false }
        Threads.pause(seconds: min(Self.pauses[min(attempt, Self.pauses.count - 1)], patience))
        return true
    }
}
#endif
