internal import PolystoreStorage

/// What others did since to the objects that a detached transaction changed, and to those that its changes lead to.
struct Conflicts {
    typealias Target = PendingReferences.Target

    struct Item {
        let object: ManagedObject
        /// The row that the store has now; nil when the other deleted it.
        let theirs: Row?
        let isDeletedHere: Bool
        /// Whether rows or pairs lead to the object that its deletion here did not know of.
        let isReferred: Bool
    }

    /// A row with the batch that keeps it.
    struct Row {
        let batch: RowBatch
        let index: Int

        var view: RowView { batch.row(index) }
    }

    private struct Place: Hashable {
        let store: Int
        let root: EntityIndex

        init(_ object: ManagedObject) {
            store = Int(object._store)
            root = object.description.root
        }
    }

    /// Rows of one look-up.
    private static let block = 1024

    let context: ObjectContext
    let tracker: ChangeTracker
    /// What is to be changed or deleted and is not what it was.
    private(set) var items: [Item] = []
    /// What changes refer to and the others deleted.
    private(set) var missing: Set<Target> = []

    init(_ context: ObjectContext, _ tracker: ChangeTracker) {
        self.context = context
        self.tracker = tracker
    }

    var isEmpty: Bool { items.isEmpty && missing.isEmpty }

    /// Compares the versions of everything that is to be changed or deleted, and what the changes lead to.
    mutating func find() throws(StorageError) {
        let references = try PendingReferences(context, tracker) { store, body throws(StorageError) in
            try context.withReader(store, body)
        }
        missing = references.missing
        let deleted = Set(tracker.deleted.map(ObjectIdentifier.init))
        var seen: Set<ObjectIdentifier> = []
        let objects = [tracker.changed, tracker.deleted].joined().filter { !$0.isNew && seen.insert(ObjectIdentifier($0)).inserted }
        let rows = try rows(of: objects)
        for object in objects {
            let theirs = rows[Place(object)]?[object._key], isReferred = references.referred.contains(Target(object))
            if theirs?.view.version == object._version, !isReferred { continue }
            let isDeletedHere = deleted.contains(ObjectIdentifier(object))
            items.append(Item(object: object, theirs: theirs, isDeletedHere: isDeletedHere, isReferred: isReferred))
        }
    }

    /// The rows that the stores have now, by place and key.
    private func rows(of objects: [ManagedObject]) throws(StorageError) -> [Place: [Int64: Row]] {
        var found: [Place: [Int64: Row]] = [:]
        for (place, objects) in Dictionary(grouping: objects, by: Place.init) {
            let keys = objects.map(\._key).sorted()
            for start in stride(from: 0, to: keys.count, by: Self.block) {
                let batch = RowBatch(capacity: min(Self.block, keys.count))
                try context.withReader(place.store) { reader throws(StorageError) in
                    try reader.rows(place.root, keys: Array(keys[start..<min(start + Self.block, keys.count)]), into: batch)
                }
                for index in 0..<batch.count { found[place, default: [:]][batch.key(index)] = Row(batch: batch, index: index) }
            }
        }
        return found
    }

    // MARK: The error

    /// The error that names them all.
    func error(_ cause: StorageError) -> StorageError {
        let gone = missing.sorted { ($0.store, $0.root, $0.key) < ($1.store, $1.root, $1.key) }
        let sentences = items.map(sentence) + gone.map(sentence), conflicts = items.map(conflict) + gone.map(conflict)
        guard let first = sentences.first else { return cause }
        return StorageError(
            .staleObject, first + (sentences.count > 1 ? ", and \(sentences.count - 1) more" : ""),
            details: .init(entity: conflicts[0].entity, keys: conflicts.map(\.key), conflicts: conflicts), cause: cause)
    }

    private func sentence(_ item: Item) -> String {
        let name = "\(item.object.description.name) \(item.object._key)"
        guard let theirs = item.theirs else { return "\(name) was deleted by another transaction since it was read" }
        if theirs.view.version != item.object._version { return "\(name) was changed by another transaction since it was read" }
        return "\(name), which is deleted here, is referred to by what another transaction has changed since"
    }

    private func sentence(_ target: Target) -> String {
        "\(name(target)) \(target.key), which is referred to here, was deleted by another transaction"
    }

    private func conflict(_ item: Item) -> ObjectConflict {
        let object = item.object, present = object.currentValues()
        let names = tracker.mask(object).slots.filter(object.description.slots.indices.contains).map { object.description.slots[$0].name }
        return ObjectConflict(
            entity: object.description.name, key: object._key,
            base: tracker.bases[ObjectIdentifier(object)].map { object.values($0.row(0)) } ?? present,
            mine: item.isDeletedHere ? nil : present.filter { names.contains($0.key) },
            theirs: item.theirs.map { object.values($0.view) })
    }

    private func conflict(_ target: Target) -> ObjectConflict {
        ObjectConflict(entity: name(target), key: target.key, base: known(target)?.currentValues() ?? [:], mine: [:], theirs: nil)
    }

    private func name(_ target: Target) -> String { known(target)?.description.name ?? context.model.schema[target.root].name }

    /// The object at a place, if it is alive.
    func known(_ target: Target) -> ManagedObject? { context.identityMap(target.root, target.store).find(target.key) }
}
