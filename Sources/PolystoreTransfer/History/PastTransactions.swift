internal import Foundation
package import PolystoreStorage

/// The transactions of a store's history, for an archive or for another store.
package struct PastTransactions {
    /// The name of the history among tables. Names of entities and relationships never begin so.
    static let table = "polystore_history"

    /// The number of transactions that are read at once, and the size of those from which fewer are read.
    private static let most = 256, mostBytes = 4 << 20
    /// The longest time that a session waits for transactions that are not in the history yet, in seconds.
    private static let longestWait = 5.0

    private let session: ReadSession
    private let limit: WorkLimit?

    init(_ session: ReadSession, _ limit: WorkLimit? = nil) {
        self.session = session
        self.limit = limit
    }

    /// Passes all transactions to `body` in their order, which returns their size in bytes.
    ///
    /// - Parameter most: The number of transactions that are passed at once.
    func forEachPart(atMost most: Int = Self.most, _ body: ([HistoryEntry]) throws(StorageError) -> Int) throws(StorageError) {
        let most = max(1, min(most, Self.most))
        var last: HistoryToken?, count = most
        while case let entries = try session.history(since: last, limit: count), let newest = entries.last?.token {
            try limit?.check()
            let bytes = try body(entries)
            count = bytes > Self.mostBytes ? max(1, count / 2) : min(most, count * 2)
            last = newest
        }
    }

    /// Returns the digest of all transactions in their order.
    func digest() throws(StorageError) -> Digest {
        var digest = Digest()
        try forEachPart { entries in entries.reduce(0) { $0 + digest.add($1) } }
        return digest
    }

    /// Begins a session that sees the newest transactions in the history, too.
    ///
    /// - Throws: `busy` if older transactions are still open that may precede them.
    static func settledSession(of store: OpenStore, _ limit: WorkLimit?) throws(StorageError) -> ReadSession {
        let start = ContinuousClock.now
        while true {
            try limit?.check()
            let session = try store.beginRead(ReadOptions(limit: limit))
            do throws(StorageError) { if try !session.hasUnsettledHistory() { return session } } catch {
                session.end()
                throw error
            }
            session.end()
            if start.duration(to: .now) > .seconds(longestWait) { break }
            Thread.sleep(forTimeInterval: 0.05)
        }
        throw StorageError(
            .busy,
            "the newest transactions are not in the history yet, because older ones are still open on the server; repeat the command when "
                + "those have ended")
    }

    /// Returns why a store cannot have the history of another one; nil if nothing is known that prevents it.
    package static func obstacle(from source: OpenStore, to target: any StorageInterface) -> String? {
        if !source.capabilities.contains(.history) { return "the source keeps none" }
        if target.ability((any ForeignStorage).self)?.foreignAccess != nil {
            return "the target is a database of another program, whose history contains only its own transactions"
        }
        return target.capabilities.contains(.history) ? nil : "the target keeps none"
    }

    /// Refuses a store with transactions, after which those of another store would look like later ones.
    ///
    /// - Parameter option: The option that leaves the history out.
    package static func checkAreMissing(in session: ReadSession, option: String) throws(StorageError) {
        let isStored = try session.ability((any StoredFormReader).self)?.storedEntries(after: 0, limit: 1).isEmpty == false
        if !isStored, try session.currentToken() == nil { return }
        throw StorageError(.alreadyExists, "the store has a history of its own; choose a new store, or \(option)")
    }
}
