/// The state of an object in addition to its values.
final class ObjectExtras {
    /// The known to-many relationships, by position.
    @exclusivity(unchecked) var collections: [Int: ToManyState] = [:]
    /// The unfetched slots, in the form of `_dirty`.
    @exclusivity(unchecked) var leftOut: UInt64 = 0
    /// The objects that were prefetched together with this one.
    var prefetched: PrefetchedObjects?
}

/// Prefetched objects. They live as long as one of the objects of the fetch. They do not retain this container, so that there is no
/// reference cycle.
final class PrefetchedObjects {
    private let objects: [ManagedObject]
    init(_ objects: [ManagedObject]) { self.objects = objects }
}
