internal import PolystoreStorage

/// The common members of all objects, typed with the class of the receiver.
public protocol ManagedObjectIdentity: ManagedObject {}

extension ManagedObjectIdentity {
    /// The identity of the object.
    public var objectID: ObjectID<Self> { ObjectID(_context.objectKey(of: self)) }
}
