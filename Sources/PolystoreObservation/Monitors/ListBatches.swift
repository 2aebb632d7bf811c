internal import PolystoreObjects

/// The most recently requested objects of a long list, in a few batches.
struct ListBatches<Object: ManagedObject> {
    /// The maximum number of batches: enough for the visible rows and for scrolling back and forth across a batch boundary.
    private static var most: Int { 4 }

    private let size: Int
    /// The batches by number, the most recently requested one last.
    private var batches: [(number: Int, objects: [ListContents.Item: Object])] = []
    private var last: [ListContents.Item: Object] = [:]

    init(size: Int) { self.size = max(size, 1) }

    /// Returns the object at a position; nil if it cannot be loaded, in which case the context records the error.
    mutating func object(
        at position: Int, _ items: ContiguousArray<ListContents.Item>, _ context: ObjectContext, _ root: EntityIndex,
        _ prefetched: [PropertyPath]
    ) -> Object? {
        let number = position / size
        if let index = batches.firstIndex(where: { $0.number == number }) {
            if index < batches.count - 1 { batches.append(batches.remove(at: index)) }
        } else {
            let range = (number * size)..<min((number + 1) * size, items.count)
            // Objects that could not be loaded are requested again the next time.
            guard let loaded = context.attempt({ () throws(StorageError) in try Self.load(items[range], context, root, prefetched) }) else {
                return nil
            }
            batches.append((number, loaded))
            if batches.count > Self.most { batches.removeFirst() }
        }
        return batches.last?.objects[items[position]]
    }

    /// Whether the batch of a position was read, so that a position without an object is that of a deleted row.
    func isRead(_ position: Int) -> Bool { batches.contains { $0.number == position / size } }

    /// Returns objects, from memory if possible, and the others with one read of each store.
    static func load(
        _ items: some Sequence<ListContents.Item>, _ context: ObjectContext, _ root: EntityIndex, _ prefetched: [PropertyPath]
    ) throws(StorageError) -> [ListContents.Item: Object] {
        var loaded: [ListContents.Item: Object] = [:]
        for (store, items) in Dictionary(grouping: items, by: \.store) {
            let objects = try context.objects(root, items.map(\.key), Int(store))
            try context.prefetch(prefetched, of: objects)
            for object in objects { loaded[ListContents.Item(key: object._key, store: store)] = object as? Object }
        }
        return loaded
    }

    /// Handles a change of the list. Objects that the program retains can still be found until the next change.
    mutating func forget(keeping isSame: Bool) {
        if isSame { return }
        last = [:]
        for batch in batches { last.merge(batch.objects) { first, _ in first } }
        batches = []
    }

    /// Returns an object that was held before the last change.
    func forgotten(_ item: ListContents.Item) -> Object? { last[item] }
}
