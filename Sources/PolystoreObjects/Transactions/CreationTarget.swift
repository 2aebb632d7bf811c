internal import PolystoreStorage

/// The store, key block and identity map for new objects of a class. Determined once for each class, because a transaction may create 100
/// 000 objects in sequence.
final class CreationTarget {
    let type: ManagedObject.Type
    let entity: EntityIndex
    let store: Int
    let keys: KeyBlock
    let map: IdentityMap

    init(_ type: ManagedObject.Type, _ entity: EntityIndex, _ store: Int, _ keys: KeyBlock, _ map: IdentityMap) {
        self.type = type
        self.entity = entity
        self.store = store
        self.keys = keys
        self.map = map
    }
}
