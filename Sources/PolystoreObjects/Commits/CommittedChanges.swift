internal import PolystoreStorage

/// The changes of one transaction, as delivered to the observers of a stack and shared by all of them.
package final class CommittedChanges: Sendable {
    /// The changes in one store.
    struct Part: Sendable {
        /// The position of the store in the stack.
        let store: Int
        /// The token in the store's history; nil if it has none.
        let token: HistoryToken?
        /// The changes; nil if they are unknown, so that everything must be read again.
        let changes: HistoryChanges?
    }

    let parts: [Part]
    /// The author as the history names it.
    let author: String
    /// The source identifier that the program gave to the transaction.
    let source: (any Hashable & Sendable)?
    /// Whether it was made outside this stack: by another process, another machine or another stack.
    let isRemote: Bool
    /// The cost of keeping and traversing it: one, plus that of its changes.
    let size: Int

    init(_ parts: [Part], author: String, source: (any Hashable & Sendable)? = nil, isRemote: Bool = false) {
        self.parts = parts
        self.author = author
        self.source = source
        self.isRemote = isRemote
        size = parts.reduce(1) { $0 + ($1.changes?.weight ?? 0) }
    }

    /// The same changes without the preserved values of deleted objects, for observers that read the objects themselves.
    var withoutTombstones: CommittedChanges {
        if !parts.contains(where: { $0.changes?.hasTombstones ?? false }) { return self }
        let parts = parts.map { Part(store: $0.store, token: $0.token, changes: $0.changes?.withoutTombstones) }
        return CommittedChanges(parts, author: author, source: source, isRemote: isRemote)
    }

    /// Returns an unknown change in a store.
    static func unknown(_ store: Int) -> CommittedChanges { unknown([store]) }

    /// Returns an unknown change in stores.
    package static func unknown(_ stores: Set<Int>) -> CommittedChanges {
        CommittedChanges(stores.sorted().map { Part(store: $0, token: nil, changes: nil) }, author: "", isRemote: true)
    }
}
