public import Polystore

/// The settings of a request that `Tweak` can change, with their names in Core Data. The clauses before it have set them.
public final class TweakedRequest {
    /// The condition; nil for all objects. A new one replaces those of the clauses before.
    public var predicate: QueryPredicate?
    /// The sort keys; nil or none for the order of the store. New ones replace those of the clauses before.
    public var sortDescriptors: [OrderTerm]?
    /// Whether the request includes uncommitted changes of the transaction.
    public var includesPendingChanges: Bool?
    /// Whether the request includes objects of subentities.
    public var includesSubentities: Bool
    /// The maximum number of objects, or 0 for no limit.
    public var fetchLimit: Int
    /// The number of objects to skip.
    public var fetchOffset: Int
    /// Whether objects are loaded on first use. Has no effect: objects are always fetched with their values.
    public var returnsObjectsAsFaults = true
    /// The number of objects that cursors and streams load at once, or 0 for the default. Fetches always read in batches.
    public var fetchBatchSize = 0
    /// The stored names of the attributes that are fetched; others are loaded on first use. Nil for all attributes.
    public var propertiesToFetch: [String]?

    init<Object: ManagedObject>(_ from: From<Object>) {
        predicate = from.predicate
        sortDescriptors = from.sort.isEmpty ? nil : from.sort
        includesPendingChanges = from.includesPendingChanges
        includesSubentities = from.includesSubentities
        fetchLimit = from.limit ?? 0
        fetchOffset = from.offset
        propertiesToFetch = from.properties?.map(\.description)
    }
}
