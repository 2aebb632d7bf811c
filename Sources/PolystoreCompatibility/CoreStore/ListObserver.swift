public import Polystore

/// An observer of a list in CoreStore, whose methods can have the source identifier of the transaction as another argument. Those have
/// precedence: their default implementations call the methods without it.
public protocol ListObserver<ListEntityType>: Polystore.ListObserver {
    /// Notifies that the list is about to change.
    func listMonitorWillChange(_ monitor: ListMonitor<ListEntityType>, sourceIdentifier: Any?)
    /// Notifies that the list has changed.
    func listMonitorDidChange(_ monitor: ListMonitor<ListEntityType>, sourceIdentifier: Any?)
    /// Notifies that the list is about to be fetched again.
    func listMonitorWillRefetch(_ monitor: ListMonitor<ListEntityType>, sourceIdentifier: Any?)
    /// Notifies that the list was fetched again.
    func listMonitorDidRefetch(_ monitor: ListMonitor<ListEntityType>, sourceIdentifier: Any?)
}

extension ListObserver {
    /// Calls the method without the source identifier.
    public func listMonitorWillChange(_ monitor: ListMonitor<ListEntityType>, sourceIdentifier: Any?) { listMonitorWillChange(monitor) }
    /// Calls the method without the source identifier.
    public func listMonitorDidChange(_ monitor: ListMonitor<ListEntityType>, sourceIdentifier: Any?) { listMonitorDidChange(monitor) }
    /// Calls the method without the source identifier.
    public func listMonitorWillRefetch(_ monitor: ListMonitor<ListEntityType>, sourceIdentifier: Any?) { listMonitorWillRefetch(monitor) }
    /// Calls the method without the source identifier.
    public func listMonitorDidRefetch(_ monitor: ListMonitor<ListEntityType>, sourceIdentifier: Any?) { listMonitorDidRefetch(monitor) }
}

extension ListMonitor {
    /// Adds an observer, which is notified while it is alive. An observer that was already added is notified once.
    public func addObserver<Observer: ListObserver>(_ observer: Observer) where Observer.ListEntityType == Object {
        add(observer, Self.sourced(Self.calls(Observer.self), Observer.self))
    }

    /// Adds an observer, which is also notified of the objects.
    public func addObserver<Observer: ListObjectObserver>(_ observer: Observer) where Observer.ListEntityType == Object {
        add(observer, Self.sourcedObjects(Self.objectCalls(Observer.self), Observer.self))
    }

    /// Adds an observer, which is also notified of objects and sections.
    public func addObserver<Observer: ListSectionObserver>(_ observer: Observer) where Observer.ListEntityType == Object {
        var calls = Self.sourcedObjects(Self.sectionCalls(Observer.self), Observer.self)
        calls.insertedSection = {
            ($0 as? Observer)?.listMonitor($1, didInsertSection: $2, toSectionIndex: $3, sourceIdentifier: $1.sourceIdentifier)
        }
        calls.deletedSection = {
            ($0 as? Observer)?.listMonitor($1, didDeleteSection: $2, fromSectionIndex: $3, sourceIdentifier: $1.sourceIdentifier)
        }
        add(observer, calls)
    }

    /// Returns the calls, with those of the methods about the list replaced by the ones with a source identifier.
    private static func sourced<Observer: ListObserver>(_ calls: Calls, _ type: Observer.Type) -> Calls
    where Observer.ListEntityType == Object {
        var calls = calls
        calls.willChange = { ($0 as? Observer)?.listMonitorWillChange($1, sourceIdentifier: $1.sourceIdentifier) }
        calls.didChange = { ($0 as? Observer)?.listMonitorDidChange($1, sourceIdentifier: $1.sourceIdentifier) }
        calls.willRefetch = { ($0 as? Observer)?.listMonitorWillRefetch($1, sourceIdentifier: $1.sourceIdentifier) }
        calls.didRefetch = { ($0 as? Observer)?.listMonitorDidRefetch($1, sourceIdentifier: $1.sourceIdentifier) }
        return calls
    }

    /// Returns the calls, with those of the methods about the list and its objects replaced by the ones with a source identifier.
    private static func sourcedObjects<Observer: ListObjectObserver>(_ calls: Calls, _ type: Observer.Type) -> Calls
    where Observer.ListEntityType == Object {
        var calls = sourced(calls, type)
        calls.inserted = {
            ($0 as? Observer)?.listMonitor($1, didInsertObject: $2, toIndexPath: $3, sourceIdentifier: $1.sourceIdentifier)
        }
        calls.deleted = {
            ($0 as? Observer)?.listMonitor($1, didDeleteObject: $2, fromIndexPath: $3, sourceIdentifier: $1.sourceIdentifier)
        }
        calls.updated = {
            ($0 as? Observer)?.listMonitor($1, didUpdateObject: $2, atIndexPath: $3, sourceIdentifier: $1.sourceIdentifier)
        }
        calls.moved = {
            ($0 as? Observer)?.listMonitor(
                $1, didMoveObject: $2, fromIndexPath: $3, toIndexPath: $4, sourceIdentifier: $1.sourceIdentifier)
        }
        return calls
    }
}
