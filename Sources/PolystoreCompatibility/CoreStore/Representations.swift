public import Polystore
public import PolystoreStorage

/// CoreStore's conversions between what stands for an object.
extension ObjectRepresentation {
    /// `DataStack.publishObject`.
    public func asPublisher(in dataStack: DataStack) throws(StorageError) -> ObjectPublisher<Object> { try dataStack.publishObject(self) }

    /// `DataStack.fetchExisting`, `ViewContext.fetchExisting` or that of a transaction.
    public func asReadOnly(in source: some FetchSource) throws(StorageError) -> Object? { try source.fetchExisting(self) }

    /// `BaseTransaction.edit`.
    public func asEditable(in transaction: BaseTransaction) throws(StorageError) -> Object? { try transaction.edit(self) }

    /// `DataStack.snapshot`.
    public func asSnapshot(in dataStack: DataStack) throws(StorageError) -> ObjectSnapshot<Object>? { try dataStack.snapshot(of: self) }
}

/// The same for objects.
extension ManagedObjectIdentity {
    /// `DataStack.publishObject`.
    public func asPublisher(in dataStack: DataStack) throws(StorageError) -> ObjectPublisher<Self> { try dataStack.publishObject(objectID) }

    /// `DataStack.fetchExisting`, `ViewContext.fetchExisting` or that of a transaction.
    public func asReadOnly(in source: some FetchSource) throws(StorageError) -> Self? { try source.fetchExisting(objectID) }

    /// `BaseTransaction.edit`.
    public func asEditable(in transaction: BaseTransaction) throws(StorageError) -> Self? { try transaction.edit(objectID) }

    /// `DataStack.snapshot`.
    public func asSnapshot(in dataStack: DataStack) throws(StorageError) -> ObjectSnapshot<Self>? { try dataStack.snapshot(of: objectID) }
}
