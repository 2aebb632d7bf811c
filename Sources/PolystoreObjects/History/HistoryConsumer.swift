public import PolystoreFoundation
public import PolystoreStorage

/// A named reader that processes the history of a store and whose offset the store keeps, for example an index, a copy or a
/// synchronization.
///
/// ```swift
/// let index = try stack.historyConsumer("search-index")
/// try index.register(from: .beginning)
/// while true {
///     let page = try index.next()
///     …                                       // the work; it may be done twice after a crash
///     try index.acknowledge(page.next)
///     if page.isLast { break }
/// }
/// ```
/// Work in the same store can be made to happen exactly once: `transaction.acknowledgeHistory(token, for: index)` commits it together with
/// the offset.
public struct HistoryConsumer: Sendable {
    /// The position at which a consumer begins.
    public enum Start: Sendable, Hashable {
        /// At the oldest transaction that is kept.
        case beginning
        /// After the newest transaction.
        case now
        /// After a token.
        case after(HistoryToken)
    }

    /// The state of a consumer.
    public struct Status: Sendable, Hashable {
        /// The name of the consumer.
        public let name: String
        /// The acknowledged offset: all transactions up to here are processed.
        public let token: HistoryToken
        /// The time of the registration or of the last restart.
        public let registered: Date
        /// The time of the last registration or acknowledgement.
        public let seen: Date
        /// The number of transactions that the consumer has not acknowledged; nil if its offset was purged, so that the number is unknown.
        public let lag: Int?
        /// The time of the first of these transactions; nil if there is none.
        public let oldest: Date?

        /// Whether the history no longer reaches back to the offset. The consumer must then read all data again and restart.
        public var isExpired: Bool { lag == nil }

        init(_ offset: HistoryOffset, _ lag: HistoryOffsetLag?) {
            name = offset.name
            token = offset.token
            registered = Microseconds.date(offset.registered)
            seen = Microseconds.date(offset.seen)
            self.lag = lag?.transactions
            oldest = (lag?.oldest).map(Microseconds.date)
        }
    }

    /// The name under which the store records the consumer.
    public let name: String
    package let core: StackCore
    package let position: Int

    package init(name: String, core: StackCore, position: Int) {
        self.name = name
        self.core = core
        self.position = position
    }

    /// Registers the consumer, so that transactions which it needs are not purged. A registered consumer keeps its offset.
    ///
    /// - Returns: The offset of the consumer.
    /// - Throws: `invalidConfiguration` for a name that is empty, contains line breaks or exceeds 180 bytes of UTF-8.
    @discardableResult
    public func register(from start: Start) throws(StorageError) -> HistoryToken {
        try write { writer throws(StorageError) in
            if let known = try HistoryConsumers(writer).find(name) { return known.token }
            return try HistoryConsumers.register(name, at: token(start, writer), writer).token
        }
    }

    /// Sets the offset regardless of its previous value, and registers the consumer if necessary. A consumer whose offset has expired uses
    /// this to restart.
    @discardableResult
    public func restart(from start: Start) throws(StorageError) -> HistoryToken {
        try write { writer throws(StorageError) in
            try HistoryConsumers.restart(name, at: token(start, writer), writer).token
        }
    }

    /// Records durably that the consumer has missed transactions: it is expired until it restarts. Registers it if necessary.
    ///
    /// - Parameter token: The token at which it will restart; nil for the newest. Entries after that are not purged.
    /// - Returns: The offset of the consumer.
    @discardableResult
    package func expire(after token: HistoryToken?) throws(StorageError) -> HistoryToken {
        try write { writer throws(StorageError) in
            let after = if let token { token } else { try HistoryScan.newest(writer) }
            return try HistoryConsumers.expire(name, after: after, writer).token
        }
    }

    /// Returns the page after the offset. Without an acknowledgement the next call returns the same page.
    ///
    /// - Parameter request: The filter for transactions. Its `after`, if it is set, replaces the offset.
    /// - Throws: `notFound` if the consumer is not registered; `tokenExpired` if its offset was purged.
    public func next(_ request: HistoryRequest = HistoryRequest()) throws(StorageError) -> HistoryPage {
        try reporting { () throws(StorageError) in
            var scan = try request.scan(core.model.schema)
            return try core.withHistory(of: position) { reader throws(StorageError) in
                let offset = try HistoryConsumers(reader).offset(name)
                scan.after = request.after ?? offset.token
                return HistoryPage(try scan.page(reader), core.model)
            }
        }
    }

    /// Durably records that all transactions up to a token are processed. The offset never moves backwards; an older token only shows that
    /// the consumer is active.
    ///
    /// - Throws: `notFound` if the consumer is not registered; `tokenExpired` for a token of another store.
    public func acknowledge(_ token: HistoryToken) throws(StorageError) {
        try write { writer throws(StorageError) in _ = try HistoryConsumers.acknowledge(name, through: token, writer) }
    }

    /// Removes the consumer, so that it no longer delays purges. Does nothing if it is not registered.
    public func unregister() throws(StorageError) {
        try write { writer throws(StorageError) in try HistoryConsumers.unregister(name, writer) }
    }

    /// Returns the state of the consumer; nil if it is not registered. Reads all transactions that are not acknowledged.
    public func status() throws(StorageError) -> Status? {
        try reporting { () throws(StorageError) in
            try core.withHistory(of: position) { reader throws(StorageError) in
                guard let offset = try HistoryConsumers(reader).find(name) else { return nil }
                return try Self.status(offset, reader)
            }
        }
    }

    static func status(_ offset: HistoryOffset, _ reader: ReadSession) throws(StorageError) -> Status {
        do throws(StorageError) {
            return Status(offset, try HistoryConsumers(reader).lag(of: offset))
        } catch  where error.code == .tokenExpired {
            return Status(offset, nil)
        }
    }

    private func token(_ start: Start, _ reader: ReadSession) throws(StorageError) -> HistoryToken {
        switch start {
        case .beginning: return try HistoryScan.beginning(reader)
        case .now: return try HistoryScan.newest(reader)
        case .after(let token):
            // Throws if the history does not reach back to the token.
            _ = try reader.history(since: token, limit: 1)
            return token
        }
    }

    private func write<R>(_ body: (WriteSession) throws(StorageError) -> R) throws(StorageError) -> R {
        try reporting { () throws(StorageError) in try core.writeNotes(position, body) }
    }
}

extension WriteTransaction {
    /// Records that a consumer has processed all transactions up to a token, atomically with the other changes of the transaction.
    ///
    /// If a transaction writes to several stores, only the first of them to commit guarantees this when a crash happens between the
    /// commits: the offset in another store may then be unchanged, and the consumer receives the page again.
    /// - Throws: `notFound` if the consumer is not registered; `tokenExpired` for a token of another store.
    public func acknowledgeHistory(_ token: HistoryToken, for consumer: HistoryConsumer) throws(StorageError) {
        try reporting { () throws(StorageError) in
            guard let sessions = try _fetchContext.sessions else { throw SessionPool.ended }
            try sessions.setNotes(in: consumer.position) { writer throws(StorageError) in
                _ = try HistoryConsumers.acknowledge(consumer.name, through: token, writer)
            }
        }
    }
}
