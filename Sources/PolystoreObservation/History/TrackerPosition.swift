internal import PolystoreFoundation
internal import PolystoreStorage

/// A position up to which a tracker has read the history of a store, which it recognizes after the store was removed and added again.
///
/// A token alone is not sufficient for this: in a store that came back from a backup, other transactions get the same numbers.
struct TrackerPosition: Sendable {
    /// The result of looking for a position.
    enum Match {
        /// The history contains the transaction.
        case same
        /// The history contains another transaction at this position, or none.
        case other
        /// The transaction was purged, or not read.
        case unknown
        /// The history does not contain the transaction before other transactions have ended.
        case unsettled
    }

    let token: HistoryToken
    /// The time of the transaction at the token; nil if it was not read.
    let time: Int64?

    init(_ token: HistoryToken, time: Int64? = nil) {
        self.token = token
        self.time = time
    }

    /// Returns a position from which no history continues.
    static func beforeAll(_ store: UUID) -> TrackerPosition { TrackerPosition(HistoryToken(store: store, position: -1)) }

    /// Looks for the transaction at the position.
    func find(_ reader: ReadSession) throws(StorageError) -> Match {
        guard let time else { return .unknown }
        do throws(StorageError) {
            let previous = HistoryToken(store: token.store, position: token.position - 1)
            if let found = try reader.history(since: previous, limit: 1).first {
                return found.token == token && found.time == time ? .same : .other
            }
        } catch  where error.code == .tokenExpired {
            return .unknown
        }
        return try reader.hasUnsettledHistory() ? .unsettled : .other
    }
}
