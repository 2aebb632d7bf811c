public import PolystoreFoundation
public import PolystoreStorage

/// A filter for the transactions of a history, with a page size.
///
/// Tokens are located directly. Times, authors and entities are found by reading the transactions after the token, so the duration of a
/// page is proportional to the number of transactions read. A page ends after 10 000 transactions even if none of them matches.
/// ```swift
/// let page = try stack.history(HistoryRequest(after: token, excluding: ["sync"]).of(Person.self))
/// ```
public struct HistoryRequest: Sendable, Hashable {
    /// The token after which to begin; nil for the oldest transaction that is kept.
    public var after: HistoryToken?
    /// The start of the time range, inclusive.
    public var from: Date?
    /// The end of the time range, exclusive.
    public var until: Date?
    /// The authors whose transactions are included; nil for all authors.
    public var authors: Set<TransactionAuthor>?
    /// The authors whose transactions are excluded.
    public var excluded: Set<TransactionAuthor>
    /// The names of the entities of which at least one object must have changed, including descendants; nil for any entity. A matching
    /// transaction contains all of its changes.
    public var entities: Set<String>?
    /// The maximum number of transactions per page.
    public var limit: Int

    /// Creates a request. By default it includes every transaction of the history, 1000 per page.
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

    /// Returns the same request, restricted to transactions that changed an object of one of the given classes.
    public func of(_ types: ManagedObject.Type...) -> HistoryRequest {
        var request = self
        request.entities = Set(types.map { $0.declaration.name }).union(entities ?? [])
        return request
    }

    /// Returns the request as a scan of a store.
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
