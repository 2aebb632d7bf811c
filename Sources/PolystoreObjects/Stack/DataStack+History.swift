internal import PolystoreFoundation
public import PolystoreStorage

extension DataStack {
    /// Returns the committed transactions of a store, oldest first, page by page.
    ///
    /// ```swift
    /// var request = HistoryRequest(after: token)
    /// repeat {
    ///     let page = try stack.history(request)
    ///     …
    ///     request.after = page.next
    /// } while !page.isLast
    /// ```
    /// - Parameters:
    ///   - request: The requested transactions, and their number per page.
    ///   - choice: The store of the history. It can be omitted if the stack has one store.
    /// - Throws: `tokenExpired` if the history no longer reaches back to the token, and for a token of another store; `unsupported` for a
    ///   store without a history; `notFound` for a store or an entity that the stack does not have.
    public func history(_ request: HistoryRequest = HistoryRequest(), of choice: StoreChoice = .only) throws(StorageError) -> HistoryPage {
        try reporting { () throws(StorageError) in
            try core.working { () throws(StorageError) in
                let position = try choice.position(in: core), scan = try request.scan(schema)
                return try core.history(scan, of: position)
            }
        }
    }

    /// Returns the token of the newest transaction of a store. A program that requests it, then reads all data, and continues from it
    /// misses nothing.
    ///
    /// - Throws: `unsupported` for a store without a history; `notFound` for one that the stack does not have.
    public func currentHistoryToken(of choice: StoreChoice = .only) throws(StorageError) -> HistoryToken {
        try reporting { () throws(StorageError) in
            try core.working { () throws(StorageError) in
                try core.withHistory(of: try choice.position(in: core)) { reader throws(StorageError) in try HistoryScan.newest(reader) }
            }
        }
    }

    /// Removes transactions from the history of a store, but never one that a registered consumer has not acknowledged.
    ///
    /// - Parameters:
    ///   - bound: The transactions to remove.
    ///   - choice: The store of the history.
    ///   - unseen: The duration after which consumers that were neither registered nor have acknowledged anything no longer retain
    ///     transactions; nil for no such limit. The offsets of these consumers are expired when they return.
    /// - Returns: The removed transactions, and the consumers that retained the rest.
    /// - Throws: `tokenExpired` for a token of another store; `unsupported` for a store without a history.
    @discardableResult
    public func purgeHistory(
        _ bound: HistoryPurge.Bound, of choice: StoreChoice = .only, ignoringConsumersUnseenFor unseen: Duration? = nil
    ) throws(StorageError) -> HistoryPurge.Outcome {
        try reporting { () throws(StorageError) in
            try core.working { () throws(StorageError) in
                try core.purgeHistory(HistoryPurge(bound, ignoresUnseenFor: unseen?.inSeconds), of: try choice.position(in: core))
            }
        }
    }
}

extension HistoryPurge.Bound {
    /// Returns the bound before the first transaction that is younger than an age.
    public static func olderThan(_ age: Duration) -> HistoryPurge.Bound { .olderThan(seconds: age.inSeconds) }
}

extension StackCore {
    func history(_ scan: HistoryScan, of position: Int) throws(StorageError) -> HistoryPage {
        try withHistory(of: position) { reader throws(StorageError) in HistoryPage(try scan.page(reader), model) }
    }

    package func purgeHistory(_ purge: HistoryPurge, of position: Int) throws(StorageError) -> HistoryPurge.Outcome {
        lookAtOnce(into: position)
        return try writeNotes(position) { writer throws(StorageError) in try purge.run(writer) }
    }

    /// Reads the history of a store in a separate session.
    package func withHistory<R>(of position: Int, _ body: (ReadSession) throws(StorageError) -> R) throws(StorageError) -> R {
        let reader = try historyStore(position).beginRead()
        defer { reader.end() }
        return try body(reader)
    }

    /// Returns a store that keeps a history.
    ///
    /// - Throws: `unsupported` for one without a history.
    @discardableResult
    func historyStore(_ position: Int) throws(StorageError) -> OpenStore {
        let store = try store(position)
        if !store.capabilities.contains(.history) { throw .keepsNoHistory }
        return store
    }

    /// Runs a short write transaction that changes no objects, in a store that keeps a history.
    func writeNotes<R>(_ position: Int, _ body: (WriteSession) throws(StorageError) -> R) throws(StorageError) -> R {
        try checkReentrancy()
        try historyStore(position)
        return try HistoryConsumers.write({ options throws(StorageError) in try beginWrite(position, options) }, body)
    }
}

extension Duration {
    /// The duration in seconds, with its fraction.
    package var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}

extension DataStack {
    /// Returns a consumer of the history of a store, by its name there. The registration is checked when the consumer is used.
    ///
    /// - Throws: `unsupported` for a store that keeps no history; `notFound` for a store that is not in the stack.
    public func historyConsumer(_ name: String, of choice: StoreChoice = .only) throws(StorageError) -> HistoryConsumer {
        try reporting { () throws(StorageError) in
            let position = try choice.position(in: core)
            try core.historyStore(position)
            return HistoryConsumer(name: name, core: core, position: position)
        }
    }

    /// Returns the states of the registered consumers of a store's history, in the order of their registration.
    ///
    /// For each consumer, reads all transactions that it has not acknowledged.
    public func historyConsumers(of choice: StoreChoice = .only) throws(StorageError) -> [HistoryConsumer.Status] {
        try reporting { () throws(StorageError) in
            try core.working { () throws(StorageError) in
                try core.withHistory(of: try choice.position(in: core)) { reader throws(StorageError) in
                    var result: [HistoryConsumer.Status] = []
                    for offset in try HistoryConsumers(reader).all() { result.append(try HistoryConsumer.status(offset, reader)) }
                    return result
                }
            }
        }
    }
}
