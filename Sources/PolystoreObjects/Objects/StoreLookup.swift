internal import PolystoreFoundation
internal import PolystoreStorage
internal import Synchronization

/// Finds the stores of identities. The next identity is usually of the same store and root as the last one.
struct StoreLookup {
    private let stack: StackCore
    private let model: StackModel
    /// The store and root of the last identity, and the state of the stack then.
    private var last: (store: UUID, root: String, position: Int, entity: EntityIndex, changes: Int)?

    init(_ stack: StackCore, _ model: StackModel) {
        self.stack = stack
        self.model = model
    }

    /// Returns the position of the store and the root entity of an identity.
    ///
    /// - Throws: `notFound` if the store is not in the stack, or the model does not have the entity.
    mutating func find(_ key: ObjectKey) throws(StorageError) -> (position: Int, entity: EntityIndex) {
        let changes = stack.storeChanges.load(ordering: .acquiring)
        if let last, last.changes == changes, last.store == key.store, last.root == key.root { return (last.position, last.entity) }
        guard let position = stack.position(of: key.store) else {
            throw StorageError(.notFound, "the store of \(key.root) \(key.key) is not part of this stack")
        }
        guard let entity = model.schema.index(of: key.root) else {
            throw StorageError(.notFound, "the model has no entity \"\(key.root)\"", details: .init(entity: key.root))
        }
        last = (key.store, key.root, position, entity, changes)
        return (position, entity)
    }
}
