public import Foundation
public import PolystoreStorage

/// Somebody who works through the history of a store and whose offset the store keeps: an index, a copy, a synchronisation.
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
/// Work that is done in the same store is done once: `transaction.acknowledgeHistory(token, for: index)` commits it together with the offset.
public struct HistoryConsumer: Sendable {
    /// Where a consumer begins.
    public enum Start: Sendable, Hashable {
        /// With the oldest transaction that is kept.
        case beginning
        /// After the newest transaction.
        case now
        /// After a token.
        case after(HistoryToken)
    }

    /// How far a consumer has come.
    public struct Status: Sendable, Hashable {
        /// Its name.
        public let name: String
        /// What it has acknowledged: everything up to here.
        public let token: HistoryToken
        /// When it was registered or restarted.
        public let registered: Date
        /// When it was last registered or acknowledged something.
        public let seen: Date
        /// The number of transactions that it has not acknowledged; nil where its offset was purged, so that nobody knows.
        public let lag: Int?
        /// The time of the first of them; nil where there is none.
        public let oldest: Date?

        /// Whether the history no longer reaches back to its offset: it reads everything anew and restarts.
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

    /// The name under which the store knows it.
    public let name: String
    let core: StackCore
    let position: Int

    /// Registers it, so that nothing that it needs is purged. One that is registered keeps its offset.
    ///
    /// - Returns: Its offset.
    /// - Throws: `invalidConfiguration` for a name that is empty, has line breaks or more than 180 bytes of UTF-8.
    @discardableResult
    public func register(from start: Start) throws(StorageError) -> HistoryToken {
        try write { writer throws(StorageError) in
            if let known = try HistoryConsumers(writer).find(name) { return known.token }
            return try HistoryConsumers.register(name, at: token(start, writer), writer).token
        }
    }

    /// Sets its offset, whatever it was, and registers it where it was not: how it begins anew when its offset has expired.
    @discardableResult
    public func restart(from start: Start) throws(StorageError) -> HistoryToken {
        try write { writer throws(StorageError) in
            try HistoryConsumers.restart(name, at: token(start, writer), writer).token
        }
    }

    /// The page after its offset. Without an acknowledgement it is the same again.
    ///
    /// - Parameter request: What is wanted; its `after`, where there is one, instead of the offset.
    /// - Throws: `notFound` if it is not registered; `tokenExpired` if its offset was purged.
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

    /// Keeps durably that everything up to a token is done. The offset never goes back; an older token says only that the consumer lives.
    ///
    /// - Throws: `notFound` if it is not registered; `tokenExpired` for a token of another store.
    public func acknowledge(_ token: HistoryToken) throws(StorageError) {
        try write { writer throws(StorageError) in _ = try HistoryConsumers.acknowledge(name, through: token, writer) }
    }

    /// Forgets it: it holds no purge back any more. Nothing happens if it is not registered.
    public func unregister() throws(StorageError) {
        try write { writer throws(StorageError) in try HistoryConsumers.unregister(name, writer) }
    }

    /// How far it has come; nil if it is not registered. It walks through what is not acknowledged.
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
            // Fails where the history does not reach back to it.
            _ = try reader.history(since: token, limit: 1)
            return token
        }
    }

    private func write<R>(_ body: (WriteSession) throws(StorageError) -> R) throws(StorageError) -> R {
        try reporting { () throws(StorageError) in try core.writeNotes(position, body) }
    }
}

extension DataStack {
    /// A consumer of the history of a store, by its name there; whether it is registered is seen when it does something.
    ///
    /// - Throws: `unsupported` by a store that keeps no history; `notFound` for one that the stack does not have.
    public func historyConsumer(_ name: String, of choice: StoreChoice = .only) throws(StorageError) -> HistoryConsumer {
        try reporting { () throws(StorageError) in
            let position = try choice.position(in: core)
            try core.historyStore(position)
            return HistoryConsumer(name: name, core: core, position: position)
        }
    }

    /// The registered consumers of the history of a store with how far they have come, in the order in which they were registered.
    ///
    /// It walks through what each has not acknowledged.
    public func historyConsumers(of choice: StoreChoice = .only) throws(StorageError) -> [HistoryConsumer.Status] {
        try reporting { () throws(StorageError) in
            try core.withHistory(of: try choice.position(in: core)) { reader throws(StorageError) in
                var result: [HistoryConsumer.Status] = []
                for offset in try HistoryConsumers(reader).all() { result.append(try HistoryConsumer.status(offset, reader)) }
                return result
            }
        }
    }
}

extension Transaction {
    /// Keeps that a consumer has done everything up to a token, together with what else the transaction does: both are there or neither.
    ///
    /// Where a transaction writes to several stores, only the first of them to commit has this promise in a crash between the commits: the
    /// offset of another may then be as it was, and the page comes again.
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
