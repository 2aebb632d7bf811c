internal import PolystoreStorage

/// What one transaction changed, as everybody who observes a stack is told of it. Shared by all of them.
final class CommittedChanges: Sendable {
    /// What it changed in one store.
    struct Part: Sendable {
        /// The position of the store in the stack.
        let store: Int
        /// The place in the store's history; nil where it has none.
        let token: HistoryToken?
        /// The changes; nil where they are not known, so that everything is to be read anew.
        let changes: HistoryChanges?
    }

    let parts: [Part]
    /// The author as the history names it.
    let author: String
    /// What the program gave the transaction to know it again by.
    let source: (any Hashable & Sendable)?
    /// Whether it was made elsewhere: by another process, another machine or another stack.
    let isRemote: Bool
    /// What it costs to keep and to look through: one, and what its changes do.
    let size: Int

    init(_ parts: [Part], author: String, source: (any Hashable & Sendable)? = nil, isRemote: Bool = false) {
        self.parts = parts
        self.author = author
        self.source = source
        self.isRemote = isRemote
        size = parts.reduce(1) { $0 + ($1.changes?.weight ?? 0) }
    }

    /// The same without the values that are kept of deleted objects, for those who look at the objects themselves.
    var withoutTombstones: CommittedChanges {
        if !parts.contains(where: { $0.changes?.hasTombstones ?? false }) { return self }
        let parts = parts.map { Part(store: $0.store, token: $0.token, changes: $0.changes?.withoutTombstones) }
        return CommittedChanges(parts, author: author, source: source, isRemote: isRemote)
    }

    /// Something changed in a store and nobody knows what.
    static func unknown(_ store: Int) -> CommittedChanges { unknown([store]) }

    /// Something changed in stores and nobody knows what.
    static func unknown(_ stores: Set<Int>) -> CommittedChanges {
        CommittedChanges(stores.sorted().map { Part(store: $0, token: nil, changes: nil) }, author: "", isRemote: true)
    }
}
