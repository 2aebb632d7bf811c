public import PolystoreStorage

extension ManagedObject {
    /// Creates an object in a transaction. `Person(context: transaction)` is equivalent to `transaction.create(Person.self)`.
    ///
    /// - Throws: Any error of `create`.
    public convenience init(context transaction: BaseTransaction) throws(StorageError) {
        let target = try transaction.target(of: Self.self)
        self.init(_new: try transaction.nextKey(target), target.entity, transaction.context)
        transaction.register(self, target)
    }
}
