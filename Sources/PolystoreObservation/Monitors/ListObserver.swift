public import PolystoreObjects

/// An observer of a list as a whole. All calls are made in the isolation of the monitor's context.
public protocol ListObserver<ListEntityType>: AnyObject {
    /// The class of the objects.
    associatedtype ListEntityType: ManagedObject

    /// Notifies that the list is about to change. It still has its previous contents.
    func listMonitorWillChange(_ monitor: ListMonitor<ListEntityType>)

    /// Notifies that the list has changed, after all calls about its sections and objects.
    func listMonitorDidChange(_ monitor: ListMonitor<ListEntityType>)

    /// Notifies that the list is about to be fetched again. Its changes are not reported object by object.
    func listMonitorWillRefetch(_ monitor: ListMonitor<ListEntityType>)

    /// Notifies that the list was fetched again: `refetch` was called, the stores of the stack changed, or there was an unknown change.
    func listMonitorDidRefetch(_ monitor: ListMonitor<ListEntityType>)
}

extension ListObserver {
    /// Does nothing.
    public func listMonitorWillChange(_ monitor: ListMonitor<ListEntityType>) {}

    /// Does nothing.
    public func listMonitorWillRefetch(_ monitor: ListMonitor<ListEntityType>) {}
}
