internal import Foundation

/// How far a consumer of a store's history has come, as the store notes it.
public struct HistoryOffset: Sendable, Hashable {
    /// The name of the consumer.
    public let name: String
    /// What it has done: everything up to here.
    public var token: HistoryToken
    /// When it was registered, in microseconds since 1970.
    public var registered: Int64
    /// When it was last heard of.
    public var seen: Int64

    init(_ name: String, _ token: HistoryToken, now: Int64) {
        self.name = name
        self.token = token
        registered = now
        seen = now
    }

    /// As it is kept: store, position and the two times.
    var note: Data { Data("\(token.store.uuidString) \(token.position) \(registered) \(seen)".utf8) }

    init(_ name: String, note: Data) throws(StorageError) {
        let parts = String(decoding: note, as: UTF8.self).split(separator: " ")
        guard parts.count == 4, let store = UUID(uuidString: String(parts[0])), let position = Int64(parts[1]),
            let registered = Int64(parts[2]), let seen = Int64(parts[3])
        else { throw StorageError(.corrupted, "the store has lost how far a consumer of its history has come; register it anew") }
        self.init(name, HistoryToken(store: store, position: position), now: registered)
        self.seen = seen
    }
}

/// How far a consumer is behind the newest entry.
public struct HistoryOffsetLag: Sendable, Hashable {
    /// The number of entries that it has not done.
    public var transactions: Int
    /// The time of the first of them, in microseconds since 1970; nil where there is none.
    public var oldest: Int64?
}
