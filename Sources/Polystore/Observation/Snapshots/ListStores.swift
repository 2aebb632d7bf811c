internal import Foundation
internal import PolystoreStorage

/// What leads from the items of a list to identities: for each position of a store which store it is, and the hierarchy of the objects.
struct ListStores: Sendable, Hashable {
    /// Where objects are from.
    struct Origin: Sendable, Hashable {
        let store: UUID
        let root: String
    }

    /// The origins by the positions of the stores.
    private(set) var origins: [Int32: Origin]

    /// Stores by their positions, and the root entity of the objects of the list.
    init(_ stores: [Int32: UUID] = [:], root: String = "") { origins = stores.mapValues { Origin(store: $0, root: root) } }

    /// The stores of a stack, and the root entity of the objects of a list.
    init(_ core: StackCore, root: EntityIndex) {
        let stores = core.entries.map { (Int32(truncatingIfNeeded: $0.position), $0.entry.store.storeID) }
        self.init(Dictionary(uniqueKeysWithValues: stores), root: core.model.schema.entities[root].name)
    }

    /// The identity of an item; that of no store for one of a store that was removed.
    func key(of item: ListContents.Item) -> ObjectKey {
        let origin = origins[item.store]
        return ObjectKey(store: origin?.store ?? UUID.placeholder, root: origin?.root ?? "", key: item.key)
    }

    /// The item of an identity; nil if it is from elsewhere.
    func item(of key: ObjectKey) -> ListContents.Item? {
        position(of: Origin(store: key.store, root: key.root)).map { ListContents.Item(key: key.key, store: $0) }
    }

    private func position(of origin: Origin) -> Int32? { origins.first { $0.value == origin }?.key }

    /// The item of an identity, whose origin is taken in if it is a new one.
    ///
    /// - Throws: `limitExceeded` for more origins than can be told apart.
    mutating func adopt(_ key: ObjectKey) throws(StorageError) -> ListContents.Item {
        ListContents.Item(key: key.key, store: try adopt(Origin(store: key.store, root: key.root)))
    }

    /// Takes in an origin and gives its position.
    mutating func adopt(_ origin: Origin) throws(StorageError) -> Int32 {
        if let position = position(of: origin) { return position }
        let last = origins.keys.max() ?? -1
        guard last < .max else { throw StorageError(.limitExceeded, "a list holds objects of at most \(Int32.max) stores") }
        origins[last + 1] = origin
        return last + 1
    }
}
