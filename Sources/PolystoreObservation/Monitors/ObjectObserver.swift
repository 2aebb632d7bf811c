public import PolystoreObjects

/// An observer of one object. All calls are made in the isolation of the monitor's context.
public protocol ObjectObserver<ObjectEntityType>: AnyObject {
    /// The class of the object.
    associatedtype ObjectEntityType: ManagedObject

    /// Notifies that the object is about to change. It still has its old values.
    func objectMonitor(_ monitor: ObjectMonitor<ObjectEntityType>, willUpdateObject object: ObjectEntityType)

    /// Notifies that the object has changed.
    ///
    /// - Parameters:
    ///   - monitor: The monitor.
    ///   - object: The object, with its new values.
    ///   - changedPersistentKeys: The stored names of the attributes and relationships that have other values than before.
    func objectMonitor(
        _ monitor: ObjectMonitor<ObjectEntityType>, didUpdateObject object: ObjectEntityType, changedPersistentKeys: Set<String>)

    /// Notifies that the object was deleted. It has its last values, and the monitor no longer has an object.
    func objectMonitor(_ monitor: ObjectMonitor<ObjectEntityType>, didDeleteObject object: ObjectEntityType)
}

extension ObjectObserver {
    /// Does nothing.
    public func objectMonitor(_ monitor: ObjectMonitor<ObjectEntityType>, willUpdateObject object: ObjectEntityType) {}

    /// Does nothing.
    public func objectMonitor(
        _ monitor: ObjectMonitor<ObjectEntityType>, didUpdateObject object: ObjectEntityType, changedPersistentKeys: Set<String>
    ) {}

    /// Does nothing.
    public func objectMonitor(_ monitor: ObjectMonitor<ObjectEntityType>, didDeleteObject object: ObjectEntityType) {}
}
