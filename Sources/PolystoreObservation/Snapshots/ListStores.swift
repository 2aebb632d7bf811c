internal import PolystoreFoundation
internal import PolystoreObjects

/// The mapping from the items of a list to identities: for each position of a store the store, and the hierarchy of the objects.
struct ListStores: Sendable, Hashable {
    /// The origin of objects.
    struct Origin: Sendable, Hashable {
        let store: UUID
        let root: String
    }

    /// The origins by the positions of the stores.
    private(set) var origins: [Int32: Origin]

    /// Creates a mapping from stores by their positions, and the root entity of the objects of the list.
    init(_ stores: [Int32: UUID] = [:], root: String = "") { origins = stores.mapValues { Origin(store: $0, root: root) } }

    /// Creates a mapping from the stores of a stack, and the root entity of the objects of a list.
    init(_ core: StackCore, root: EntityIndex) {
        let stores = core.entries.map { (Int32(truncatingIfNeeded: $0.position), $0.entry.store.storeID) }
        self.init(Dictionary(uniqueKeysWithValues: stores), root: core.model.schema.entities[root].name)
    }

    /// Returns the identity of an item. For an item of a removed store, it has no store.
    func key(of item: ListContents.Item) -> ObjectKey {
        let origin = origins[item.store]
        return ObjectKey(store: origin?.store ?? UUID.placeholder, root: origin?.root ?? "", key: item.key)
    }

    /// Returns the item of an identity; nil if it has another origin.
    func item(of key: ObjectKey) -> ListContents.Item? {
        position(of: Origin(store: key.store, root: key.root)).map { ListContents.Item(key: key.key, store: $0) }
    }

    private func position(of origin: Origin) -> Int32? { origins.first { $0.value == origin }?.key }

    /// Returns the item of an identity, and adds its origin if it is new.
    ///
    /// - Throws: `limitExceeded` for more origins than can be distinguished.
    mutating func adopt(_ key: ObjectKey) throws(StorageError) -> ListContents.Item {
        ListContents.Item(key: key.key, store: try adopt(Origin(store: key.store, root: key.root)))
    }

    /// Adds an origin and returns its position.
    mutating func adopt(_ origin: Origin) throws(StorageError) -> Int32 {
        if let position = position(of: origin) { return position }
        let last = origins.keys.max() ?? -1
        guard last < .max else { throw StorageError(.limitExceeded, "a list can contain objects of at most \(Int32.max) stores") }
        origins[last + 1] = origin
        return last + 1
    }
}
