/// The state of an object in addition to its values.
final class ObjectExtras {
    /// The known to-many relationships, by position.
    @exclusivity(unchecked) var collections: [Int: ToManyState] = [:]
    /// The unfetched slots, in the form of `_dirty`.
    @exclusivity(unchecked) var leftOut: UInt64 = 0
    /// The objects that were prefetched together with this one.
    var prefetched: PrefetchedObjects?
}
