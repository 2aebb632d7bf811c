internal import PolystoreStorage

/// The objects of a long list that were asked for last, a few batches of them.
struct ListBatches<Object: ManagedObject> {
    /// Enough for what a screen shows and for going back and forth over a border.
    private static var most: Int { 4 }

    private let size: Int
    /// The batches by number, the one that was asked for last at the end.
    private var batches: [(number: Int, objects: [ListContents.Item: Object])] = []
    private var last: [ListContents.Item: Object] = [:]

    init(size: Int) { self.size = max(size, 1) }

    /// The object at a position; nil when it cannot be loaded, which the context remembers.
    mutating func object(
        at position: Int, _ items: ContiguousArray<ListContents.Item>, _ context: ObjectContext, _ root: EntityIndex,
        _ prefetched: [PropertyPath]
    ) -> Object? {
        let number = position / size
        if let index = batches.firstIndex(where: { $0.number == number }) {
            if index < batches.count - 1 { batches.append(batches.remove(at: index)) }
        } else {
            let range = (number * size)..<min((number + 1) * size, items.count)
            // What could not be loaded is asked for again the next time.
            guard let loaded = context.attempt({ () throws(StorageError) in try Self.load(items[range], context, root, prefetched) }) else {
                return nil
            }
            batches.append((number, loaded))
            if batches.count > Self.most { batches.removeFirst() }
        }
        return batches.last?.objects[items[position]]
    }

    /// Objects that are in memory, and those that are not in one read of each store.
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

    /// The list is another one; objects that are held stay found until the next time.
    mutating func forget(keeping isSame: Bool) {
        if isSame { return }
        last = [:]
        for batch in batches { last.merge(batch.objects) { first, _ in first } }
        batches = []
    }

    /// An object that was held before the last change.
    func forgotten(_ item: ListContents.Item) -> Object? { last[item] }
}
