internal import Polystore

/// The settings of a request that `Tweak` can change, with their names in Core Data.
public final class TweakedRequest {
    /// Whether the request includes uncommitted changes of the transaction.
    public var includesPendingChanges: Bool?
    /// Whether the request includes objects of subentities.
    public var includesSubentities = true
    /// The maximum number of objects, or 0 for no limit.
    public var fetchLimit = 0
    /// The number of objects to skip.
    public var fetchOffset = 0
    /// Whether objects are loaded on first use. Has no effect: objects are always fetched with their values.
    public var returnsObjectsAsFaults = true
    /// The number of objects that cursors and streams load at once, or 0 for the default. Fetches always read in batches.
    public var fetchBatchSize = 0
    /// The stored names of the attributes that are fetched; others are loaded on first use. Nil for all attributes.
    public var propertiesToFetch: [String]?
}
