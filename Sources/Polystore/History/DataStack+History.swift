internal import Foundation
public import PolystoreStorage

extension DataStack {
    /// The transactions that were committed to a store, oldest first, page by page.
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
    ///   - request: Which, and how many at a time.
    ///   - choice: Whose history: it need not be said where the stack has one store.
    /// - Throws: `tokenExpired` where the history no longer reaches back to the token, and for one of another store; `unsupported` by a store
    ///   that keeps no history; `notFound` for a store or an entity that the stack does not have.
    public func history(_ request: HistoryRequest = HistoryRequest(), of choice: StoreChoice = .only) throws(StorageError) -> HistoryPage {
        try reporting { () throws(StorageError) in
            let position = try choice.position(in: core), scan = try request.scan(schema)
            return try core.history(scan, of: position)
        }
    }

    /// The token of the newest transaction of a store: whoever reads everything after asking for it, and goes on from it, misses nothing.
    ///
    /// - Throws: `unsupported` by a store that keeps no history; `notFound` for one that the stack does not have.
    public func currentHistoryToken(of choice: StoreChoice = .only) throws(StorageError) -> HistoryToken {
        try reporting { () throws(StorageError) in
            try core.withHistory(of: try choice.position(in: core)) { reader throws(StorageError) in
                try HistoryScan.newest(reader)
            }
        }
    }

    /// Lets a store forget transactions that nobody needs, never one that a registered consumer has not acknowledged.
    ///
    /// - Parameters:
    ///   - bound: How much is not wanted any more.
    ///   - choice: Whose history.
    ///   - unseen: Consumers that were neither registered nor acknowledged anything for so long hold nothing back; nil for none. They find
    ///     their offset expired when they come back.
    /// - Returns: What was removed, and who held back the rest.
    /// - Throws: `tokenExpired` for a token of another store; `unsupported` by a store that keeps no history.
    @discardableResult
    public func purgeHistory(
        _ bound: HistoryPurge.Bound, of choice: StoreChoice = .only, ignoringConsumersUnseenFor unseen: Duration? = nil
    ) throws(StorageError) -> HistoryPurge.Outcome {
        try reporting { () throws(StorageError) in
            try core.purgeHistory(HistoryPurge(bound, ignoresUnseenFor: unseen?.inSeconds), of: try choice.position(in: core))
        }
    }
}

extension HistoryPurge.Bound {
    /// Everything before the first transaction that is younger than an age.
    public static func olderThan(_ age: Duration) -> HistoryPurge.Bound { .olderThan(seconds: age.inSeconds) }
}

extension StackCore {
    func history(_ scan: HistoryScan, of position: Int) throws(StorageError) -> HistoryPage {
        try withHistory(of: position) { reader throws(StorageError) in HistoryPage(try scan.page(reader), model) }
    }

    func purgeHistory(_ purge: HistoryPurge, of position: Int) throws(StorageError) -> HistoryPurge.Outcome {
        lookAtOnce(into: position)
        return try writeNotes(position) { writer throws(StorageError) in try purge.run(writer) }
    }

    /// Reads the history of a store in a session of its own.
    func withHistory<R>(of position: Int, _ body: (ReadSession) throws(StorageError) -> R) throws(StorageError) -> R {
        let reader = try historyStore(position).beginRead()
        defer { reader.end() }
        return try body(reader)
    }

    /// A store that keeps a history.
    ///
    /// - Throws: `unsupported` for one that keeps none.
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
    /// The whole and the fraction of the seconds.
    var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
