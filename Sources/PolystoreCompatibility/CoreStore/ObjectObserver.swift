public import Polystore

/// An observer of an object in CoreStore, whose methods can have the source identifier of the transaction as another argument. Those have
/// precedence: their default implementations call the methods without it.
public protocol ObjectObserver<ObjectEntityType>: Polystore.ObjectObserver {
    /// Notifies that the object is about to change.
    func objectMonitor(
        _ monitor: ObjectMonitor<ObjectEntityType>, willUpdateObject object: ObjectEntityType, sourceIdentifier: Any?)
    /// Notifies that the object has changed.
    func objectMonitor(
        _ monitor: ObjectMonitor<ObjectEntityType>, didUpdateObject object: ObjectEntityType, changedPersistentKeys: Set<String>,
        sourceIdentifier: Any?)
    /// Notifies that the object was deleted.
    func objectMonitor(
        _ monitor: ObjectMonitor<ObjectEntityType>, didDeleteObject object: ObjectEntityType, sourceIdentifier: Any?)
}

extension ObjectObserver {
    /// Calls the method without the source identifier.
    public func objectMonitor(
        _ monitor: ObjectMonitor<ObjectEntityType>, willUpdateObject object: ObjectEntityType, sourceIdentifier: Any?
    ) {
        objectMonitor(monitor, willUpdateObject: object)
    }

    /// Calls the method without the source identifier.
    public func objectMonitor(
        _ monitor: ObjectMonitor<ObjectEntityType>, didUpdateObject object: ObjectEntityType, changedPersistentKeys: Set<String>,
        sourceIdentifier: Any?
    ) {
        objectMonitor(monitor, didUpdateObject: object, changedPersistentKeys: changedPersistentKeys)
    }

    /// Calls the method without the source identifier.
    public func objectMonitor(
        _ monitor: ObjectMonitor<ObjectEntityType>, didDeleteObject object: ObjectEntityType, sourceIdentifier: Any?
    ) {
        objectMonitor(monitor, didDeleteObject: object)
    }
}

extension ObjectMonitor {
    /// Adds an observer, which is notified while it is alive. An observer that was already added is notified once.
    public func addObserver<Observer: ObjectObserver>(_ observer: Observer) where Observer.ObjectEntityType == Object {
        add(
            observer,
            Calls(
                will: { ($0 as? Observer)?.objectMonitor($1, willUpdateObject: $2, sourceIdentifier: $1.sourceIdentifier) },
                did: {
                    ($0 as? Observer)?.objectMonitor(
                        $1, didUpdateObject: $2, changedPersistentKeys: $3, sourceIdentifier: $1.sourceIdentifier)
                }, deleted: { ($0 as? Observer)?.objectMonitor($1, didDeleteObject: $2, sourceIdentifier: $1.sourceIdentifier) }))
    }
}
