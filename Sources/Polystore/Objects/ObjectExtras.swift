/// What an object has beside its values.
final class ObjectExtras {
    /// The to-many relationships that are known, by position.
    @exclusivity(unchecked) var collections: [Int: ToManyState] = [:]
    /// The slots that were left out when the object was read, in the form of `_dirty`.
    @exclusivity(unchecked) var leftOut: UInt64 = 0
    /// Objects that were loaded together with this one.
    var prefetched: PrefetchedObjects?
}

/// Objects that were loaded because a fetch asked for them in advance. They live as long as one of the objects of the fetch does; they do
/// not hold it in turn, so that nothing holds itself.
final class PrefetchedObjects {
    private let objects: [ManagedObject]
    init(_ objects: [ManagedObject]) { self.objects = objects }
}
