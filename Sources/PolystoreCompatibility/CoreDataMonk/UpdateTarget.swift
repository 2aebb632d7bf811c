/// The target of CoreDataMonk's updates, which determines when a main context sees them.
///
/// | target | objects of the main context show a commit | who waits |
/// |---|---|---|
/// | `.mainContext` | when `beginUpdateAndWait` returns; soon after the commit of another update | the main context, for the merge |
/// | `.rootContext(autoMerge: true)` | soon after the commit | none |
/// | `.rootContext(autoMerge: false)` | after `merge()` or `reset()` | none |
/// | `.persistentStore` | after `merge()` or `reset()` | none |
///
/// Soon after the commit means in the isolation that the main context was created in, such as the main actor. A context without an
/// isolation shows the commit at the next fetch or `merge()`.
public enum UpdateTarget: Sendable, Hashable {
    /// The main context merges a commit immediately.
    case mainContext
    /// The root context. The main context merges automatically, or when `merge` is called.
    case rootContext(autoMerge: Bool)
    /// The store. The main context is merged manually.
    case persistentStore
}
