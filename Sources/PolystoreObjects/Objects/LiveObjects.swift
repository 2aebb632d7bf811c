internal import PolystoreFoundation
internal import PolystoreStorage

/// The living objects of a context, found by store, hierarchy and key.
struct LiveObjects {
    private let stack: StackCore
    private let model: StackModel
    /// The identity maps of the stores with objects.
    private var stores: [Int32: StoreMaps] = [:]
    /// The identity maps of the most recently used store, which is usually the next one too.
    private var last = StoreMaps(store: -1, storeID: UUID.placeholder, entityCount: 0)
    private var count = 0

    init(_ stack: StackCore, _ model: StackModel) {
        self.stack = stack
        self.model = model
    }

    /// Returns the identity map of an entity's hierarchy in a store.
    @inline(__always)
    mutating func map(_ entity: EntityIndex, _ store: Int) -> IdentityMap {
        if last.store == store, let map = last.maps[entity] { return map.takeUnretainedValue() }
        return makeMap(entity, store)
    }

    @inline(never)
    private mutating func makeMap(_ entity: EntityIndex, _ store: Int) -> IdentityMap {
        let position = Int32(truncatingIfNeeded: store)
        last =
            stores[position] ?? StoreMaps(store: position, storeID: stack.storeID(store), entityCount: model.schema.entities.count)
        stores[position] = last
        return last.map(entity, root: model.schema[entity].root)
    }

    /// The identity maps, by store and root entity.
    var places: [(store: Int, root: EntityIndex, map: IdentityMap)] {
        stores.sorted { $0.key < $1.key }.flatMap { store, maps in
            maps.owned.sorted { $0.key < $1.key }.map { (Int(store), $0.key, $0.value) }
        }
    }

    /// Counts a new object. Returns whether it is the only one.
    @inline(__always)
    mutating func add() -> Bool {
        count &+= 1
        return count == 1
    }

    /// Counts an object that is being released. Returns whether it was the last one.
    mutating func remove() -> Bool {
        count &-= 1
        return count == 0
    }

    /// Removes an object that is being released from its identity map.
    mutating func removeFromMap(_ object: ManagedObject) {
        if last.store != object._store { last = stores[object._store] ?? last }
        guard last.store == object._store else { return }
        last.maps[Int(object._entity)]?._withUnsafeGuaranteedRef { $0.remove(object._key, Unmanaged.passUnretained(object).toOpaque()) }
    }

    /// Returns the identity of the store of an object, also if the store was removed from the stack.
    func storeID(of object: ManagedObject) -> UUID {
        (last.store == object._store ? last : stores[object._store])?.storeID ?? stack.storeID(Int(object._store))
    }
}
