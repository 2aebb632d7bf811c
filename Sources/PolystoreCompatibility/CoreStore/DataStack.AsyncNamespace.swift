public import Polystore

extension DataStack {
    /// The asynchronous functions of CoreStore 9: `try await dataStack.async.perform { transaction in … }`.
    public var async: AsyncNamespace { AsyncNamespace(base: self) }

    /// The asynchronous functions of a stack.
    public struct AsyncNamespace: Sendable {
        /// The stack.
        public let base: DataStack

        /// Opens a store on a thread of the stack and adds it. Migrates it if it has another version of the model.
        @discardableResult
        public func addStorage<Storage: StorageInterface>(_ storage: Storage) async throws -> Storage {
            try await base.addStorage(storage)
        }

        /// Runs a closure in a write transaction on a thread of the stack, and commits when the closure returns. An error that the closure
        /// throws is the cause of a `userError`.
        @discardableResult
        public func perform<R: Sendable>(
            _ asynchronous: @escaping @Sendable (WriteTransaction) throws -> R
        ) async throws(CoreStoreError) -> R {
            do { return try await base.perform(asynchronous) } catch { throw CoreStoreError(error) }
        }
    }
}
