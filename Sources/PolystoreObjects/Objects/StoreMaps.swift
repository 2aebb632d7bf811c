internal import PolystoreFoundation
internal import PolystoreStorage

/// The identity maps of one store in a context, one per hierarchy, created for its first object.
final class StoreMaps {
    /// The position of the store.
    let store: Int32
    /// The identity of the store.
    let storeID: UUID
    /// The map of each entity, in unmanaged memory, because every object accesses its map when it is released.
    let maps: UnsafeMutablePointer<Unmanaged<IdentityMap>?>
    /// Retains the maps, under the roots of their hierarchies.
    private(set) var owned: [EntityIndex: IdentityMap] = [:]

    init(store: Int32, storeID: UUID, entityCount: Int) {
        self.store = store
        self.storeID = storeID
        maps = .allocate(capacity: max(entityCount, 1))
        maps.initialize(repeating: nil, count: max(entityCount, 1))
    }

    deinit { maps.deallocate() }

    func map(_ entity: EntityIndex, root: EntityIndex) -> IdentityMap {
        let map = owned[root] ?? IdentityMap()
        owned[root] = map
        maps[entity] = .passUnretained(map)
        return map
    }
}
