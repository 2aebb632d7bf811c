#if SQLite
internal import PolystoreFoundation
internal import PolystoreStorage
internal import Synchronization

/// The writing connection and the queue of its writers.
///
/// Unchecked: only the current writer accesses the connection.
final class SQLiteWriterSeat: @unchecked Sendable {
    private let lane = WriteLane()
    private var connection: SQLiteConnection?
    private let isClosed = Atomic(false)
    private let open: @Sendable () throws(StorageError) -> SQLiteConnection

    /// The flush that commits share; nil where they do not wait for the disk, or each by itself.
    let flush: SQLiteLogFlush?

    /// The commits of this store.
    var commits: OwnCommits { lane.commits }

    init(
        _ first: SQLiteConnection?, flush: SQLiteLogFlush? = nil, open: @escaping @Sendable () throws(StorageError) -> SQLiteConnection
    ) {
        connection = first
        self.flush = flush
        self.open = open
    }

    /// Waits for the connection and returns it, for use until `leave`.
    ///
    /// - Parameter isClosed: Whether the store was closed, which ends the wait.
    /// - Returns: The connection, and the options with the remaining time.
    func enter(_ options: WriteOptions, isClosed: () -> Bool) throws(StorageError) -> (SQLiteConnection, WriteOptions) {
        let rest = try lane.enter(options, isClosed: isClosed)
        if let connection { return (connection, rest) }
        do throws(StorageError) {
            let opened = try open()
            connection = opened
            return (opened, rest)
        } catch {
            lane.leave()
            throw error
        }
    }

    /// Passes the connection to the next writer. A connection that failed is closed, and so is that of a store that was closed meanwhile.
    func leave() {
        if connection?.isSuspect == true { connection = nil }
        lane.leave()
        // After the end of the turn, so that either this or the `close` beside it finds no writer.
        if isClosed.load(ordering: .sequentiallyConsistent) { closeUnlessUsed() }
    }

    /// Closes the connection if there is no writer, and ends the wait of others. A writer that is still active closes it when it ends.
    ///
    /// *Requires*: the core is closed.
    func close() {
        isClosed.store(true, ordering: .sequentiallyConsistent)
        lane.dismiss()
        closeUnlessUsed()
    }

    private func closeUnlessUsed() {
        guard (try? lane.enter(timeout: 0)) != nil else { return }
        connection = nil
        lane.leave()
    }
}
#endif
