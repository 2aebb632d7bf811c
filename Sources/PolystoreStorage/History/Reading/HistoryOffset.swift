internal import PolystoreFoundation

/// The offset of a consumer in a store's history, as the store keeps it.
package struct HistoryOffset: Sendable, Hashable {
    /// The name of the consumer.
    package let name: String
    /// The token up to which the consumer has processed the history.
    package var token: HistoryToken
    /// The time of the registration, in microseconds since 1970.
    package var registered: Int64
    /// The time of the last acknowledgement, in microseconds since 1970.
    package var seen: Int64

    /// The position after which the consumer needs the entries. An expired consumer, which has to read all data again, has a negative
    /// position, from which no history continues: -1 minus the position at which it will restart.
    package var needed: Int64 { token.position < 0 ? -1 - token.position : token.position }

    init(_ name: String, _ token: HistoryToken, now: Int64) {
        self.name = name
        self.token = token
        registered = now
        seen = now
    }

    /// The stored form: store, position, and the two times.
    var note: Data { Data("\(token.store.uuidString) \(token.position) \(registered) \(seen)".utf8) }

    init(_ name: String, note: Data) throws(StorageError) {
        let parts = String(decoding: note, as: UTF8.self).split(separator: " ")
        guard parts.count == 4, let store = UUID(uuidString: String(parts[0])), let position = Int64(parts[1]),
            let registered = Int64(parts[2]), let seen = Int64(parts[3])
        else { throw StorageError(.corrupted, "the stored offset of the history consumer \"\(name)\" is damaged; register it again") }
        self.init(name, HistoryToken(store: store, position: position), now: registered)
        self.seen = seen
    }
}
