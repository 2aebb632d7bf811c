internal import Foundation
internal import Polystore
internal import PolystoreCatalog
internal import PolystoreStorage
internal import Synchronization

/// A stack of the program.
final class StackHandle: Handle {
    static var noun: String { "a stack" }

    let stack: DataStack
    /// The number of users: the handle itself, monitors, and running work. The stores are closed with the last one, and not only when the object
    /// is released, for which a task that ends may let wait.
    private let users = Mutex(1)

    init(_ stack: DataStack) { self.stack = stack }

    /// Creates a stack with the model of an existing store, and adds the store.
    convenience init(opening url: StoreURL) throws(StorageError) {
        let request = OpenRequest(schema: nil, createIfMissing: false, readOnly: true)
        let opened = try OpenStore(opening: StoreCatalog.standard.store(at: url), request)
        let schema = opened.schema
        try opened.close()
        self.init(try DataStack(schema: schema))
        try stack.addStorageAndWait(StoreCatalog.standard.store(at: url))
    }

    /// Opens a store and adds it. Migrates it if it has another version of the model.
    func add(_ url: StoreURL, _ configuration: String?) throws {
        let storage = try StoreCatalog.standard.store(at: url, configuration: configuration)
        do throws(StorageError) { try stack.addStorageAndWait(storage) } catch {
            guard error.code == .schemaMismatch else { throw error }
            try migrate(storage)
        }
    }

    private func migrate(_ storage: some StorageInterface) throws {
        let waiting = Waiting<Void>()
        // Not on the queue of the stack: this call may be in a completion that occupies it.
        stack.addStorage(storage, on: .global()) { result in waiting.finish(result.map { _ in }) }
        try waiting.wait()
    }

    /// Removes all stores, which closes them.
    func close() throws(StorageError) { for storage in stack.storages { try stack.removeStorage(storage) } }

    /// Adds a user.
    ///
    /// - Throws: `storeClosed` after the last one has left.
    func enter() throws(StorageError) {
        let isOpen = users.withLock { count in
            if count > 0 { count += 1 }
            return count > 0
        }
        if !isOpen { throw StorageError(.storeClosed, "the handle of the stack was released") }
    }

    /// Removes a user, and closes the stores after the last one.
    func leave() {
        let isLast = users.withLock { count in
            count -= 1
            return count == 0
        }
        if isLast { try? close() }
    }

    func end() { leave() }

    /// Runs a closure with a stack, whose stores stay open until its end, also if the handle is released meanwhile.
    static func using<R>(_ handle: OpaquePointer?, _ body: (StackHandle) throws -> R) throws -> R {
        let object: StackHandle = try HandleTable.object(handle)
        try object.enter()
        defer { object.leave() }
        return try body(object)
    }
}
