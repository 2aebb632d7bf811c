internal import PolystoreStorage
internal import Synchronization

/// The right to hold a snapshot outside a transaction. There are few, so that reads and fetches always find a connection.
final class StreamSeat {
    static let count = 4
    private let core: StackCore

    private init(_ core: StackCore) { self.core = core }

    deinit { core.openStreams.subtract(1, ordering: .relaxed) }

    /// A seat, until it is released.
    ///
    /// - Throws: `busy` when all are taken.
    static func take(_ core: StackCore) throws(StorageError) -> StreamSeat {
        // What is counted above is taken back by `deinit`.
        let isFree = core.openStreams.add(1, ordering: .relaxed).oldValue < count, seat = StreamSeat(core)
        if isFree { return seat }
        throw StorageError(
            .busy, "\(count) cursors and streams of the stack are open; end one, or fetch inside read, which has a snapshot already")
    }
}
