public import Foundation
public import PolystoreStorage

/// Which transactions of a history are wanted, and how many at a time.
///
/// A token is found at once. Times, authors and entities are looked for by walking through the transactions after it, so a page takes time
/// in proportion to those it walks through; it ends after ten thousand although it may have found none.
/// ```swift
/// let page = try stack.history(HistoryRequest(after: token, excluding: ["sync"]).of(Person.self))
/// ```
public struct HistoryRequest: Sendable, Hashable {
    /// Where to begin; nil for the oldest transaction that is kept.
    public var after: HistoryToken?
    /// The time from which on transactions are wanted.
    public var from: Date?
    /// The time before which transactions are wanted.
    public var until: Date?
    /// Whose transactions are wanted; nil for everybody's.
    public var authors: Set<TransactionAuthor>?
    /// Whose transactions are not wanted.
    public var excluded: Set<TransactionAuthor>
    /// The names of the entities of which something has to have changed, in them or in those below them; nil for any. What was found has
    /// all changes of the transaction.
    public var entities: Set<String>?
    /// The greatest number of transactions of a page.
    public var limit: Int

    /// A request; every transaction of the history, a thousand at a time, unless said otherwise.
    public init(
        after: HistoryToken? = nil, from: Date? = nil, until: Date? = nil, authors: Set<TransactionAuthor>? = nil,
        excluding excluded: Set<TransactionAuthor> = [], entities: Set<String>? = nil, limit: Int = 1000
    ) {
        self.after = after
        self.from = from
        self.until = until
        self.authors = authors
        self.excluded = excluded
        self.entities = entities
        self.limit = limit
    }

    /// The same for transactions in which an object of a class was changed.
    public func of(_ types: ManagedObject.Type...) -> HistoryRequest {
        var request = self
        request.entities = Set(types.map { $0.declaration.name }).union(entities ?? [])
        return request
    }

    /// The request in the terms of a store.
    func scan(_ schema: Schema) throws(StorageError) -> HistoryScan {
        var scan = HistoryScan(after: after, limit: limit)
        scan.from = from.map { Microseconds.from($0) ?? ($0 < Date() ? .min : .max) }
        scan.until = until.map { Microseconds.from($0) ?? ($0 < Date() ? .min : .max) }
        scan.authors = authors.map { Set($0.map(\.name)) }
        scan.excludedAuthors = Set(excluded.map(\.name))
        guard let entities else { return scan }
        var found: Set<EntityIndex> = []
        for name in entities {
            guard let entity = schema.index(of: name) else {
                let nearest = Suggestion.nearest(name, in: schema.entities.map(\.name))
                throw StorageError(.notFound, "the model has no entity \"\(name)\"\(nearest)", details: .init(entity: name))
            }
            found.formUnion(schema[entity].family)
        }
        scan.entities = found
        return scan
    }
}
