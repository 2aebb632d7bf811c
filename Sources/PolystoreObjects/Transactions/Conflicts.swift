internal import PolystoreStorage

/// The conflicting changes of other transactions, to objects that a detached transaction changed and to objects that its changes reference.
struct Conflicts {
    typealias Target = PendingReferences.Target

    struct Item {
        let object: ManagedObject
        /// The current row in the store, or nil if the other transaction deleted it.
        let theirs: Row?
        let isDeletedHere: Bool
        /// Whether rows or pairs reference the object that were not known when it was deleted here, or a pair no longer exists through which
        /// a delete rule reached it.
        let isReferred: Bool
    }

    /// A row, with the batch that contains it.
    struct Row {
        let batch: RowBatch
        let index: Int

        var view: RowView { batch.row(index) }
    }

    /// The current rows of objects, by identity.
    struct Rows {
        fileprivate var rows: [Target: Row] = [:]

        /// The current row of an object; nil if it was deleted.
        subscript(object: ManagedObject) -> Row? { rows[Target(object)] }
    }

    /// The number of rows per lookup.
    private static let block = 1024

    let context: ObjectContext
    let tracker: ChangeTracker
    /// The objects to be changed or deleted whose stored state differs from their base.
    private(set) var items: [Item] = []
    /// The objects that changes reference and that other transactions deleted.
    private(set) var missing: Set<Target> = []
    /// The objects that other transactions deleted, of those that are to be changed, deleted or referenced.
    private(set) var gone: Set<Target> = []
    /// The objects of the items.
    private(set) var inConflict: Set<ObjectIdentifier> = []
    /// The references that deletions here have set to nil.
    private(set) var cleared: Set<ChangeTracker.ClearedReference> = []
    /// The references that were assigned here before a deletion set them to nil, with the assigned destination.
    private(set) var reassigned: [ChangeTracker.ClearedReference: Value] = [:]

    init(_ context: ObjectContext, _ tracker: ChangeTracker) {
        self.context = context
        self.tracker = tracker
    }

    var isEmpty: Bool { items.isEmpty && missing.isEmpty }

    /// Compares the versions of all objects to be changed or deleted, and the objects that the changes reference.
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
            let theirs = rows[object], isReferred = references.referred.contains(Target(object))
            if theirs?.view.version == object._version, !isReferred { continue }
            let isDeletedHere = deleted.contains(ObjectIdentifier(object))
            items.append(Item(object: object, theirs: theirs, isDeletedHere: isDeletedHere, isReferred: isReferred))
        }
        gone = missing.union(items.filter { $0.theirs == nil }.map { Target($0.object) })
        inConflict = Set(items.map { ObjectIdentifier($0.object) })
        for object in tracker.deleted {
            for reference in tracker.clearings[ObjectIdentifier(object)]?.references ?? [] {
                let place = ChangeTracker.ClearedReference(reference.object, reference.slot)
                if tracker.wasAssignedLater(reference) { continue }
                if !reference.wasAssigned {
                    cleared.insert(place)
                } else if reference.object._reference(reference.slot) == nil {
                    let slots = reference.object.description.slots
                    reassigned[place] = Value(reference.row.row(0)[reference.slot], as: slots[reference.slot].type)
                }
            }
        }
    }

    /// Returns the current rows of objects in their stores.
    func rows(of objects: [ManagedObject]) throws(StorageError) -> Rows {
        struct Place: Hashable {
            let store: Int
            let root: EntityIndex
        }
        var found = Rows()
        for (place, objects) in Dictionary(grouping: objects, by: { Place(store: Int($0._store), root: $0.description.root) }) {
            let keys = objects.map(\._key).sorted()
            for start in stride(from: 0, to: keys.count, by: Self.block) {
                let batch = RowBatch(capacity: min(Self.block, keys.count))
                try context.withReader(place.store) { reader throws(StorageError) in
                    try reader.rows(place.root, keys: Array(keys[start..<min(start + Self.block, keys.count)]), into: batch)
                }
                for index in 0..<batch.count {
                    found.rows[Target(store: place.store, root: place.root, key: batch.key(index))] = Row(batch: batch, index: index)
                }
            }
        }
        return found
    }

    // MARK: The error

    /// Returns the error that names all conflicts.
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
        return "\(name) is deleted here, but another transaction has added or removed a reference to it, or a member, since"
    }

    private func sentence(_ target: Target) -> String {
        "\(name(target)) \(target.key) is referenced here, but was deleted by another transaction"
    }

    private func conflict(_ item: Item) -> ObjectConflict {
        let object = item.object, present = object.currentValues()
        let names = tracker.mask(object).slots.filter(object.description.slots.indices.contains).map { object.description.slots[$0].name }
        return ObjectConflict(
            entity: object.description.name, key: object._key,
            base: tracker.bases[ObjectIdentifier(object)].map { object.values($0.row.row(0)) } ?? present,
            mine: item.isDeletedHere ? nil : present.filter { names.contains($0.key) },
            theirs: item.theirs.map { object.values($0.view) })
    }

    private func conflict(_ target: Target) -> ObjectConflict {
        ObjectConflict(entity: name(target), key: target.key, base: known(target)?.currentValues() ?? [:], mine: [:], theirs: nil)
    }

    private func name(_ target: Target) -> String { known(target)?.description.name ?? context.model.schema[target.root].name }

    /// Returns the object with a store, entity root and key if it is in memory.
    func known(_ target: Target) -> ManagedObject? { context.identityMap(target.root, target.store).find(target.key) }
}
