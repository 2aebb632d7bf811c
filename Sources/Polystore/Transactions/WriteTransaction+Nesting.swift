internal import PolystoreStorage

extension WriteTransaction {
    /// Runs a part of the transaction that can fail individually: if the closure throws, only the changes of this part are undone.
    ///
    /// Parts can be nested. After a failure, objects that existed before have their former values, and objects that the part created are
    /// deleted. An error after which the engine cannot continue, such as a conflict with another transaction or a lost connection, ends the
    /// whole transaction, even if it is caught.
    /// - Returns: The result of the closure.
    /// - Throws: Any error of the closure, after this part was undone. Catch the error to continue with the rest of the transaction.
    public func nested<R>(_ body: () throws -> R) throws -> R {
        let part = try TransactionPart(self)
        do {
            let result = try body()
            try part.keep()
            return result
        } catch {
            part.undo()
            throw error
        }
    }

    /// Runs an operation that writes in several steps, so that an error undoes all of them.
    func wholly<R>(_ body: () throws(StorageError) -> R) throws(StorageError) -> R {
        let part = try TransactionPart(self)
        do throws(StorageError) {
            let result = try body()
            try part.keep()
            return result
        } catch {
            part.undo()
            throw error
        }
    }
}
