public import PolystoreFoundation

/// An observer of the objects of a list, called between `listMonitorWillChange` and `listMonitorDidChange`.
///
/// Deletions come first, then insertions, updates and moves. Previous positions are index paths of the list before the change, new
/// positions those of the current list.
public protocol ListObjectObserver<ListEntityType>: ListObserver {
    /// Notifies that an object was inserted into the list, because it was created or because it now satisfies the condition.
    func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didInsertObject object: ListEntityType, toIndexPath indexPath: IndexPath)

    /// Notifies that an object was removed from the list. A deleted object has its last values if the context had it, otherwise only its
    /// identity.
    func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didDeleteObject object: ListEntityType, fromIndexPath indexPath: IndexPath)

    /// Notifies that an object of the list has new values and kept its position relative to the others. The index path is that of the list
    /// before the change.
    func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didUpdateObject object: ListEntityType, atIndexPath indexPath: IndexPath)

    /// Notifies that an object of the list has another position relative to the others.
    func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didMoveObject object: ListEntityType, fromIndexPath: IndexPath, toIndexPath: IndexPath)
}

extension ListObjectObserver {
    /// Does nothing.
    public func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didInsertObject object: ListEntityType, toIndexPath indexPath: IndexPath
    ) {}

    /// Does nothing.
    public func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didDeleteObject object: ListEntityType, fromIndexPath indexPath: IndexPath
    ) {}

    /// Does nothing.
    public func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didUpdateObject object: ListEntityType, atIndexPath indexPath: IndexPath
    ) {}

    /// Does nothing.
    public func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didMoveObject object: ListEntityType, fromIndexPath: IndexPath, toIndexPath: IndexPath
    ) {}
}
