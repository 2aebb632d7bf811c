internal import PolystoreStorage

/// A value that can write itself to a transaction.
public protocol Persistable {
    /// The data that all values of one import share, such as objects that they reference. Fetched once.
    associatedtype ImporterData

    /// Prepares the shared data. Called once for each import, before the first value.
    static func generateImporterData(objects: [Self], context: BaseTransaction) throws -> ImporterData

    /// Creates or changes the objects of this value.
    func importIntoContext(_ context: BaseTransaction, importerData: inout ImporterData) throws -> PersistenceResult
}

extension Persistable where ImporterData == Void {
    /// Does nothing.
    public static func generateImporterData(objects: [Self], context: BaseTransaction) throws {}
}

extension BaseTransaction {
    /// Imports values in their order.
    ///
    /// A value that throws is reported as failed. Use `nested` for its work if a partial import of the value must be undone.
    /// - Returns: The result for each value, in the same order.
    /// - Throws: An error of the transaction as a whole: a conflict with another transaction, a lost connection, a timeout, a cancellation,
    ///   and any other error that was not undone.
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
    /// - Returns: The result for each value, by its identity; the last one for several values with one identity.
    public func importPersistableObjects<Item: Persistable & Identifiable>(
        _ items: some Collection<Item>
    ) throws -> [Item.ID: PersistenceResult] {
        let results: [PersistenceResult] = try importPersistableObjects(items)
        return Dictionary(zip(items.map(\.id), results)) { _, last in last }
    }
}
