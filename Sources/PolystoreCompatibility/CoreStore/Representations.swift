public import Polystore
public import PolystoreStorage

/// The conversions between representations of an object in CoreStore.
extension ObjectRepresentation {
    /// Returns the identity of the object. The name of the property `objectID` in CoreStore.
    @_disfavoredOverload
    public func objectID() -> ObjectID<Object> { objectID }

    /// Returns a publisher of the object (`DataStack.publishObject`).
    public func asPublisher(in dataStack: DataStack) throws(StorageError) -> ObjectPublisher<Object> { try dataStack.publishObject(self) }

    /// Returns the object (`DataStack.fetchExisting`, `ViewContext.fetchExisting`, or the same method of a transaction).
    public func asReadOnly(in source: some FetchSource) throws(StorageError) -> Object? { try source.fetchExisting(self) }

    /// Returns the instance of a transaction (`BaseTransaction.edit`).
    public func asEditable(in transaction: BaseTransaction) throws(StorageError) -> Object? { try transaction.edit(self) }

    /// Returns a snapshot of the object (`DataStack.snapshot`).
    public func asSnapshot(in dataStack: DataStack) throws(StorageError) -> ObjectSnapshot<Object>? { try dataStack.snapshot(of: self) }

    /// Returns a snapshot of the object with the uncommitted changes of a transaction (`BaseTransaction.snapshot`).
    public func asSnapshot(in transaction: BaseTransaction) throws(StorageError) -> ObjectSnapshot<Object>? {
        try transaction.snapshot(of: self)
    }
}

/// The same conversions for objects.
extension ManagedObjectIdentity {
    /// Returns the identity of the object. The name of the property `objectID` in CoreStore.
    @_disfavoredOverload
    public func objectID() -> ObjectID<Self> { objectID }

    /// Returns a publisher of the object (`DataStack.publishObject`).
    public func asPublisher(in dataStack: DataStack) throws(StorageError) -> ObjectPublisher<Self> { try dataStack.publishObject(objectID) }

    /// Returns the object (`DataStack.fetchExisting`, `ViewContext.fetchExisting`, or the same method of a transaction).
    public func asReadOnly(in source: some FetchSource) throws(StorageError) -> Self? { try source.fetchExisting(objectID) }

    /// Returns the instance of a transaction (`BaseTransaction.edit`).
    public func asEditable(in transaction: BaseTransaction) throws(StorageError) -> Self? { try transaction.edit(objectID) }

    /// Returns a snapshot of the object (`DataStack.snapshot`).
    public func asSnapshot(in dataStack: DataStack) throws(StorageError) -> ObjectSnapshot<Self>? { try dataStack.snapshot(of: objectID) }

    /// Returns a snapshot of the object with the uncommitted changes of a transaction (`BaseTransaction.snapshot`).
    public func asSnapshot(in transaction: BaseTransaction) throws(StorageError) -> ObjectSnapshot<Self>? {
        try transaction.snapshot(of: objectID)
    }
}
