/// A value that represents an object and has its identity: an id, a snapshot, a publisher or a monitor. Methods that take such a value also
/// take an object of any context.
/// ```swift
/// let snapshot = try stack.snapshot(of: id)
/// try stack.perform(synchronous: { try $0.edit(snapshot)?.name = "Ann" })
/// ```
public protocol ObjectRepresentation<Object> {
    /// The class of the object.
    associatedtype Object: ManagedObject

    /// The identity of the object.
    var objectID: ObjectID<Object> { get }
}

extension ObjectID: ObjectRepresentation {
    /// The id itself.
    public var objectID: ObjectID<Object> { self }
}
