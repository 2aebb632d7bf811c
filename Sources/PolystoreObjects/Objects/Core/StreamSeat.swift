internal import PolystoreStorage
internal import Synchronization

/// A permit to hold a snapshot outside a transaction. The number of permits is small, so that reads and fetches always find a connection.
/// A shutdown of the stack waits for the release of permits.
final class StreamSeat {
    static let count = 4
    private let core: StackCore
    private let limit: WorkLimit

    private init(_ core: StackCore, _ limit: WorkLimit) {
        self.core = core
        self.limit = limit
    }

    deinit {
        core.openStreams.subtract(1, ordering: .relaxed)
        core.gate.leave(limit)
    }

    /// Takes a permit, which is held until the object is released.
    ///
    /// - Parameter limit: The limit of the reading, which a shutdown ends.
    /// - Throws: `busy` if no permit is available; `storeClosed` after the beginning of a shutdown.
    static func take(_ core: StackCore, _ limit: WorkLimit) throws(StorageError) -> StreamSeat {
        try core.beginWork(limit)
        // `deinit` reverts the count, and ends the work.
        let isFree = core.openStreams.add(1, ordering: .relaxed).oldValue < count, seat = StreamSeat(core, limit)
        if isFree { return seat }
        throw StorageError(
            .busy,
            "the limit of \(count) open cursors and streams of the stack is reached; end one, or fetch inside read, which has a snapshot already"
        )
    }
}
