#if !canImport(CoreData)
public import Polystore

/// The name of `Schema` in Core Data: a version of a model. It is a value and cannot be changed.
public typealias NSManagedObjectModel = Schema

/// The name of `MigrationStage` in Core Data.
public typealias NSMigrationStage = MigrationStage

/// The name of `SchemaHistory` in Core Data: the versions of a model with their stages.
public typealias NSStagedMigrationManager = SchemaHistory

/// The name in Core Data of the transactions that create, change and delete objects. `save()` is a function of those that
/// `backgroundContext(author:)` returns; others are saved when their closure returns.
public typealias NSManagedObjectContext = BaseTransaction

/// The name of `ListSectionInfo` in Core Data.
public typealias NSFetchedResultsSectionInfo = ListSectionInfo

/// The name of `From` in Core Data: a fetch request that is built by chaining. It is a value.
public typealias NSFetchRequest<Result: ManagedObject> = From<Result>

extension From {
    /// Creates a request for the objects of an entity.
    public init(entityName: String) { self.init(entity: entityName) }

    /// Returns the request restricted to objects that satisfy a condition.
    public func predicated(_ predicate: Where<Object>) -> From { self.where(predicate) }
}

extension FetchSource {
    /// Returns the objects of a request, in its order.
    public func fetch<O: ManagedObject>(_ request: NSFetchRequest<O>) throws(StorageError) -> [O] { try fetchAll(request) }

    /// Returns the number of objects of a request.
    public func count<O: ManagedObject>(for request: NSFetchRequest<O>) throws(StorageError) -> Int { try fetchCount(request) }
}
#endif
