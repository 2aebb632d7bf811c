/// The target of CoreDataMonk's updates, which determines when a main context sees them.
///
/// | target | objects of the main context show a commit | who waits |
/// |---|---|---|
/// | `.mainContext` | before the update's call returns to the context's isolation, after the commit is durable | the main context, for the merge |
/// | `.rootContext(autoMerge: true)` | at the next fetch or `merge()` | none |
/// | `.rootContext(autoMerge: false)` | after `merge()` or `reset()` | none |
/// | `.persistentStore` | after `merge()` or `reset()` | none |
public enum UpdateTarget: Sendable, Hashable {
    /// The main context merges a commit immediately.
    case mainContext
    /// The root context. The main context merges automatically, or when `merge` is called.
    case rootContext(autoMerge: Bool)
    /// The store. The main context is merged manually.
    case persistentStore
}
