internal import PolystoreFoundation

/// The named consumers of a store's history. The store keeps their offsets as notes.
///
/// One note contains the names of all consumers, and each consumer's offset has a note of its own, so that consumers that advance at the
/// same time do not conflict.
package struct HistoryConsumers {
    private static let index = "history.consumers"
    private static let prefix = "history.consumer."
    /// The maximum length of a name in bytes. With its prefix the name becomes the name of a note.
    package static let longestName = 180

    private let session: ReadSession

    /// Creates a view of the consumers in a session's store.
    package init(_ session: ReadSession) { self.session = session }

    /// Returns the names in the order of their registration.
    package func names() throws(StorageError) -> [String] {
        guard let data = try session.note(Self.index) else { return [] }
        return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// Returns the offset of a consumer, or nil if it is not registered.
    package func find(_ name: String) throws(StorageError) -> HistoryOffset? {
        guard let note = try session.note(Self.prefix + name) else { return nil }
        return try HistoryOffset(name, note: note)
    }

    /// Returns the offset of a consumer.
    ///
    /// - Throws: `notFound` if it is not registered.
    package func offset(_ name: String) throws(StorageError) -> HistoryOffset {
        try Self.check(name)
        if let offset = try find(name) { return offset }
        throw StorageError(
            .notFound, "no history consumer \"\(name)\" is registered\(Suggestion.nearest(name, in: try names()))")
    }

    /// Returns all consumers in the order of their registration.
    package func all() throws(StorageError) -> [HistoryOffset] {
        var result: [HistoryOffset] = []
        for name in try names() { if let offset = try find(name) { result.append(offset) } }
        return result
    }

    /// Returns the lag of a consumer. Iterates through all entries that the consumer has not processed.
    ///
    /// - Throws: `tokenExpired` if the history at its offset was purged.
    package func lag(of offset: HistoryOffset) throws(StorageError) -> HistoryOffsetLag {
        var lag = HistoryOffsetLag(transactions: 0), token = offset.token
        while true {
            let entries = try session.history(since: token, limit: 256)
            guard let first = entries.first, let last = entries.last else { return lag }
            if lag.oldest == nil { lag.oldest = first.time }
            lag.transactions += entries.count
            token = last.token
        }
    }

    private static func check(_ name: String) throws(StorageError) {
        if name.isEmpty || name.contains(where: \.isNewline) || name.utf8.count > longestName {
            throw StorageError(
                .invalidConfiguration, "the name of a history consumer must have one line of 1 to \(longestName) bytes")
        }
    }

    private static var now: Int64 { Microseconds.from(Date()) ?? 0 }
}

/// Operations of consumers. Each takes place in a write transaction, which may contain other changes.
extension HistoryConsumers {
    /// Registers a consumer that has processed everything up to a token. A consumer that is already registered keeps its offset.
    @discardableResult
    package static func register(_ name: String, at token: HistoryToken, _ writer: WriteSession) throws(StorageError) -> HistoryOffset {
        try check(name)
        let consumers = HistoryConsumers(writer)
        if let known = try consumers.find(name) { return known }
        return try begin(name, at: token, writer)
    }

    /// Sets the offset of a consumer to a token regardless of its previous offset. A consumer whose offset was purged starts again in this
    /// way.
    @discardableResult
    package static func restart(_ name: String, at token: HistoryToken, _ writer: WriteSession) throws(StorageError) -> HistoryOffset {
        try check(name)
        return try begin(name, at: token, writer)
    }

    /// Marks a consumer as expired: it gets `tokenExpired` until it restarts. Until then the entries after a token, at which it will restart,
    /// are not purged.
    package static func expire(_ name: String, after token: HistoryToken, _ writer: WriteSession) throws(StorageError) -> HistoryOffset {
        try restart(name, at: HistoryToken(store: token.store, position: -1 - max(token.position, 0)), writer)
    }

    /// Registers a consumer of another store's history, as expired. It keeps its times.
    package static func expire(_ offset: HistoryOffset, after token: HistoryToken, _ writer: WriteSession) throws(StorageError) {
        var expired = try expire(offset.name, after: token, writer)
        (expired.registered, expired.seen) = (offset.registered, offset.seen)
        try writer.setNote(prefix + offset.name, expired.note)
    }

    private static func begin(_ name: String, at token: HistoryToken, _ writer: WriteSession) throws(StorageError) -> HistoryOffset {
        let names = try HistoryConsumers(writer).names(), offset = HistoryOffset(name, token, now: now)
        if !names.contains(name) { try setNames(names + [name], writer) }
        try writer.setNote(prefix + name, offset.note)
        return offset
    }

    /// Records that a consumer has processed everything up to a token. The offset never moves backwards: an older token only updates the
    /// time.
    ///
    /// - Throws: `notFound` if it is not registered; `tokenExpired` for a token of another store.
    @discardableResult
    package static func acknowledge(
        _ name: String, through token: HistoryToken, _ writer: WriteSession
    ) throws(StorageError) -> HistoryOffset {
        var offset = try HistoryConsumers(writer).offset(name)
        guard offset.token.store == token.store else {
            throw StorageError(
                .tokenExpired,
                "the token belongs to another store than the history consumer \"\(name)\"; read all objects again and restart the consumer")
        }
        if token.position >= 0, token.position > offset.token.position { offset.token = token }
        offset.seen = max(offset.seen, now)
        try writer.setNote(prefix + name, offset.note)
        return offset
    }

    /// Removes a consumer. An unregistered name is not an error.
    package static func unregister(_ name: String, _ writer: WriteSession) throws(StorageError) {
        try check(name)
        let names = try HistoryConsumers(writer).names()
        if names.contains(name) { try setNames(names.filter { $0 != name }, writer) }
        try writer.setNote(prefix + name, nil)
    }

    private static func setNames(_ names: [String], _ writer: WriteSession) throws(StorageError) {
        try writer.setNote(index, names.isEmpty ? nil : Data(names.joined(separator: "\n").utf8))
    }
}

extension HistoryConsumers {
    private static let attempts = 8

    /// Runs a short write transaction about consumers. Repeats it after a conflict; the last attempt is exclusive.
    package static func write<Result>(
        _ begin: (WriteOptions) throws(StorageError) -> WriteSession,
        _ body: (WriteSession) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        var attempt = 1
        while true {
            let writer = try begin(WriteOptions(isExclusive: attempt == attempts))
            defer { writer.end() }
            do throws(StorageError) {
                let result = try body(writer)
                _ = try writer.commit(CommitRecord())
                return result
            } catch  where error.code == .serializationFailure && attempt < attempts {
                attempt += 1
                Threads.pause(seconds: Double.random(in: 0...0.005) * Double(attempt))
            }
        }
    }
}
