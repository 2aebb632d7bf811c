public import Foundation
public import Polystore

/// An observer of the objects of a list in CoreStore, whose methods can have the source identifier of the transaction as another argument, or
/// an `NSIndexPath` as in CoreStore 1.
public protocol ListObjectObserver<ListEntityType>: ListObserver, Polystore.ListObjectObserver {
    /// Notifies that an object was inserted into the list.
    func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didInsertObject object: ListEntityType, toIndexPath indexPath: IndexPath,
        sourceIdentifier: Any?)
    /// Notifies that an object was inserted into the list.
    func listMonitor(_ monitor: ListMonitor<ListEntityType>, didInsertObject object: ListEntityType, toIndexPath indexPath: NSIndexPath)

    /// Notifies that an object was removed from the list.
    func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didDeleteObject object: ListEntityType, fromIndexPath indexPath: IndexPath,
        sourceIdentifier: Any?)
    /// Notifies that an object was removed from the list.
    func listMonitor(_ monitor: ListMonitor<ListEntityType>, didDeleteObject object: ListEntityType, fromIndexPath indexPath: NSIndexPath)

    /// Notifies that an object of the list has new values.
    func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didUpdateObject object: ListEntityType, atIndexPath indexPath: IndexPath,
        sourceIdentifier: Any?)
    /// Notifies that an object of the list has new values.
    func listMonitor(_ monitor: ListMonitor<ListEntityType>, didUpdateObject object: ListEntityType, atIndexPath indexPath: NSIndexPath)

    /// Notifies that an object of the list has another position relative to the others.
    func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didMoveObject object: ListEntityType, fromIndexPath: IndexPath, toIndexPath: IndexPath,
        sourceIdentifier: Any?)
    /// Notifies that an object of the list has another position relative to the others.
    func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didMoveObject object: ListEntityType, fromIndexPath: NSIndexPath,
        toIndexPath: NSIndexPath)
}

extension ListObjectObserver {
    /// Calls the method without the source identifier.
    public func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didInsertObject object: ListEntityType, toIndexPath indexPath: IndexPath,
        sourceIdentifier: Any?
    ) {
        listMonitor(monitor, didInsertObject: object, toIndexPath: indexPath)
    }

    /// Calls the method with an `NSIndexPath`.
    public func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didInsertObject object: ListEntityType, toIndexPath indexPath: IndexPath
    ) {
        listMonitor(monitor, didInsertObject: object, toIndexPath: NSIndexPath(indexPath))
    }

    /// Does nothing.
    public func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didInsertObject object: ListEntityType, toIndexPath indexPath: NSIndexPath
    ) {}

    /// Calls the method without the source identifier.
    public func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didDeleteObject object: ListEntityType, fromIndexPath indexPath: IndexPath,
        sourceIdentifier: Any?
    ) {
        listMonitor(monitor, didDeleteObject: object, fromIndexPath: indexPath)
    }

    /// Calls the method with an `NSIndexPath`.
    public func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didDeleteObject object: ListEntityType, fromIndexPath indexPath: IndexPath
    ) {
        listMonitor(monitor, didDeleteObject: object, fromIndexPath: NSIndexPath(indexPath))
    }

    /// Does nothing.
    public func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didDeleteObject object: ListEntityType, fromIndexPath indexPath: NSIndexPath
    ) {}

    /// Calls the method without the source identifier.
    public func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didUpdateObject object: ListEntityType, atIndexPath indexPath: IndexPath,
        sourceIdentifier: Any?
    ) {
        listMonitor(monitor, didUpdateObject: object, atIndexPath: indexPath)
    }

    /// Calls the method with an `NSIndexPath`.
    public func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didUpdateObject object: ListEntityType, atIndexPath indexPath: IndexPath
    ) {
        listMonitor(monitor, didUpdateObject: object, atIndexPath: NSIndexPath(indexPath))
    }

    /// Does nothing.
    public func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didUpdateObject object: ListEntityType, atIndexPath indexPath: NSIndexPath
    ) {}

    /// Calls the method without the source identifier.
    public func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didMoveObject object: ListEntityType, fromIndexPath: IndexPath, toIndexPath: IndexPath,
        sourceIdentifier: Any?
    ) {
        listMonitor(monitor, didMoveObject: object, fromIndexPath: fromIndexPath, toIndexPath: toIndexPath)
    }

    /// Calls the method with an `NSIndexPath`.
    public func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didMoveObject object: ListEntityType, fromIndexPath: IndexPath, toIndexPath: IndexPath
    ) {
        listMonitor(
            monitor, didMoveObject: object, fromIndexPath: NSIndexPath(fromIndexPath), toIndexPath: NSIndexPath(toIndexPath))
    }

    /// Does nothing.
    public func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didMoveObject object: ListEntityType, fromIndexPath: NSIndexPath,
        toIndexPath: NSIndexPath
    ) {}
}

extension NSIndexPath {
    fileprivate convenience init(_ path: IndexPath) { self.init(indexes: Array(path), length: path.count) }
}
