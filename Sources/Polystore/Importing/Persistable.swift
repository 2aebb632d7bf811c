public import PolystoreStorage

/// A value that knows how to bring itself into a transaction.
public protocol Persistable {
    /// What all values of one import need, such as objects that they refer to; fetched once.
    associatedtype ImporterData

    /// Called once for each import, before the first value.
    static func generateImporterData(objects: [Self], context: BaseTransaction) throws -> ImporterData

    /// Creates or changes the objects of this value.
    func importIntoContext(_ context: BaseTransaction, importerData: inout ImporterData) throws -> PersistenceResult
}

extension Persistable where ImporterData == Void {
    /// Nothing.
    public static func generateImporterData(objects: [Self], context: BaseTransaction) throws {}
}

/// What became of a value that was imported.
public enum PersistenceResult: Sendable {
    /// A new object.
    case inserted(ObjectKey)
    /// An object that was there and was changed.
    case updated(ObjectKey)
    /// An object that was there and had the values already.
    case unchanged(ObjectKey)
    /// Nothing was done.
    case skipped
    /// The value could not be imported; the others are not concerned.
    case failed(any Error)

    /// A new object.
    public static func insert<Object: ManagedObject>(_ id: ObjectID<Object>) -> PersistenceResult { .inserted(id.key) }

    /// An object that was there and was changed.
    public static func update<Object: ManagedObject>(_ id: ObjectID<Object>) -> PersistenceResult { .updated(id.key) }
}

extension BaseTransaction {
    /// Imports values in their order.
    ///
    /// A value that throws is reported as failed; wrap its work in `nested` where half of it must not stay.
    /// - Returns: What became of each, in the same order.
    /// - Throws: An error that is one of the transaction as a whole: a conflict with another, a lost connection, a deadline, a cancellation,
    ///   and any other that was not undone.
    @discardableResult
    public func importPersistableObjects<Item: Persistable>(_ items: some Collection<Item>) throws -> [PersistenceResult] {
        var data = try Item.generateImporterData(objects: Array(items), context: self)
        var results: [PersistenceResult] = []
        for item in items {
            do {
                results.append(try item.importIntoContext(self, importerData: &data))
            } catch {
                try context.sessions?.checkActive()
                if let error = error as? StorageError, error.code.concernsWholeTransaction { throw error }
                results.append(.failed(error))
            }
        }
        return results
    }

    /// Imports values in their order.
    ///
    /// - Returns: What became of each, by its identity; of several with one identity the last.
    public func importPersistableObjects<Item: Persistable & Identifiable>(
        _ items: some Collection<Item>
    ) throws -> [Item.ID: PersistenceResult] {
        let results: [PersistenceResult] = try importPersistableObjects(items)
        return Dictionary(zip(items.map(\.id), results)) { _, last in last }
    }
}
