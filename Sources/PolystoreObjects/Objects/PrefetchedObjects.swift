/// Prefetched objects. They live as long as one of the objects of the fetch. They do not retain this container, so that there is no
/// reference cycle.
final class PrefetchedObjects {
    private let objects: [ManagedObject]
    init(_ objects: [ManagedObject]) { self.objects = objects }
}
