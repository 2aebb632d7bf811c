internal import PolystoreStorage

/// The objects of a detached transaction that are not what they were when they were read.
struct Conflicts {
    private struct Item {
        let object: ManagedObject
        /// The row that the store has now; nil when the other deleted it.
        let theirs: Row?
        let isDeletedHere: Bool
    }

    /// A row with the batch that keeps it.
    private struct Row {
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

    private let context: ObjectContext
    private let tracker: ChangeTracker
    private var items: [Item] = []

    init(_ context: ObjectContext, _ tracker: ChangeTracker) {
        self.context = context
        self.tracker = tracker
    }

    var isEmpty: Bool { items.isEmpty }

    /// Compares the versions of everything that is to be changed or deleted.
    mutating func find() throws(StorageError) {
        let deleted = Set(tracker.deleted.map(ObjectIdentifier.init))
        var seen: Set<ObjectIdentifier> = []
        let objects = [tracker.changed, tracker.deleted].joined().filter { !$0.isNew && seen.insert(ObjectIdentifier($0)).inserted }
        let rows = try rows(of: objects)
        for object in objects {
            let theirs = rows[Place(object)]?[object._key]
            if theirs?.view.version == object._version { continue }
            items.append(Item(object: object, theirs: theirs, isDeletedHere: deleted.contains(ObjectIdentifier(object))))
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

    /// The error that names them all.
    func error(_ cause: StorageError) -> StorageError {
        guard let first = items.first else { return cause }
        let name = first.object.description.name
        return StorageError(
            .staleObject,
            "\(name) \(first.object._key) was \(first.theirs == nil ? "deleted" : "changed") by another transaction since it was read"
                + (items.count > 1 ? ", and \(items.count - 1) more" : ""),
            details: .init(entity: name, keys: items.map(\.object._key), conflicts: items.map(conflict)), cause: cause)
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

    /// Brings the objects to what a policy says, so that the commit can be tried again.
    func resolve(_ policy: MergePolicy) throws(StorageError) {
        for item in items {
            switch policy {
            case .error: break
            case .theirs: giveUp(item)
            case .mine: try merge(item) { _, _, mine, _ in mine }
            case .byAttribute(let choose):
                let entity = item.object.description.name
                try merge(item) { choose(entity, $0, $1, $2, $3) }
            }
        }
        restoreDeletions()
    }

    /// Gives back what deletions that were given up took from others, and takes from the objects that are there again what is deleted here.
    private func restoreDeletions() {
        let restored = items.filter { $0.isDeletedHere && !$0.object.isDeletedObject }.map(\.object)
        if restored.isEmpty { return }
        for object in restored {
            guard let clearing = tracker.clearings.removeValue(forKey: ObjectIdentifier(object)) else { continue }
            tracker.restore(clearing, context.model.schema)
        }
        for object in restored {
            for (slot, description) in object.description.slots.enumerated() {
                guard let destination = description.destination, let key = object._reference(slot) else { continue }
                let target = context.identityMap(destination, Int(object._store)).find(key)
                if target?.isDeletedObject == true { context.assign(object, slot, nil) }
            }
        }
        // What relationships to many lead to is found out again, from the store and from what is pending.
        tracker.knowsMembersOfNewObjects = false
        context.forgetRelationships()
    }

    /// Forgets what was done here to an object.
    private func giveUp(_ item: Item) {
        let object = item.object
        tracker.changed.removeAll { $0 === object }
        tracker.deleted.removeAll { $0 === object }
        tracker.bases[ObjectIdentifier(object)] = nil
        object._dirty = 0
        if let theirs = item.theirs {
            object.revert(to: theirs.view)
        } else {
            object._flags |= ManagedObject.Flags.deleted
        }
    }

    /// Takes over what the other wrote, except for what was assigned here.
    private func merge(
        _ item: Item, _ choose: (_ attribute: String, _ base: Value, _ mine: Value, _ theirs: Value) -> Value
    ) throws(StorageError) {
        let object = item.object
        // Nothing is left to be changed, or to be deleted twice.
        guard let row = item.theirs else { return giveUp(item) }
        if item.isDeletedHere {
            object._version = row.view.version
            return
        }
        let description = object.description, mask = tracker.mask(object)
        let mine = object.currentValues(), theirs = object.values(row.view)
        let base = tracker.bases[ObjectIdentifier(object)].map { object.values($0.row(0)) } ?? mine
        let cells = row.batch.mutableCells(row.index)
        for slot in mask.slots where slot < description.slots.count {
            let name = description.slots[slot].name
            let (was, own, other) = (base[name] ?? .null, mine[name] ?? .null, theirs[name] ?? .null)
            let value = other == was ? own : choose(name, was, own, other)
            do throws(ValueError) {
                cells[slot] = row.batch.cell(for: try description.normalise(value, slot: slot))
            } catch {
                throw StorageError(error)
            }
        }
        object.takeOver(row.view)
    }
}
