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
    private(set) var origins: [Origin]

    /// The stores of a stack by their positions, and the root entity of the objects of the list.
    init(_ stores: [UUID] = [], root: String = "") { origins = stores.map { Origin(store: $0, root: root) } }

    /// The identity of an item; its store is one of these.
    func key(of item: ListContents.Item) -> ObjectKey {
        let origin = origins[Int(item.store)]
        return ObjectKey(store: origin.store, root: origin.root, key: item.key)
    }

    /// The item of an identity; nil if it is from elsewhere.
    func item(of key: ObjectKey) -> ListContents.Item? {
        origins.firstIndex(of: Origin(store: key.store, root: key.root)).map { ListContents.Item(key: key.key, store: Int16(clamping: $0)) }
    }

    /// The item of an identity, whose origin is taken in if it is a new one.
    ///
    /// - Throws: `limitExceeded` for more origins than can be told apart.
    mutating func adopt(_ key: ObjectKey) throws(StorageError) -> ListContents.Item {
        ListContents.Item(key: key.key, store: try adopt(Origin(store: key.store, root: key.root)))
    }

    /// Takes in an origin and gives its position.
    mutating func adopt(_ origin: Origin) throws(StorageError) -> Int16 {
        if let position = origins.firstIndex(of: origin) { return Int16(clamping: position) }
        guard let position = Int16(exactly: origins.count) else {
            throw StorageError(.limitExceeded, "a list holds objects of at most \(Int16.max) stores")
        }
        origins.append(origin)
        return position
    }
}
