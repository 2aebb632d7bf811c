internal import PolystoreFoundation
public import PolystoreStorage

/// The changed objects: one change per object, and one per to-many relationship with changed pairs.
///
/// The sequence contains all changes, and methods return those of a class and its subclasses. 100 000 inserts take no more memory than one:
/// the changes are computed during the iteration.
public struct ObjectChanges: Sendable, Sequence {
    private struct Part: Sendable {
        let store: UUID
        let changes: HistoryChanges
    }

    private let parts: [Part]
    private let model: StackModel

    init(_ parts: [(store: UUID, changes: HistoryChanges)], _ model: StackModel) {
        self.parts = parts.map { Part(store: $0.store, changes: $0.changes) }
        self.model = model
    }

    /// The number of changes.
    public var count: Int { parts.reduce(0) { $0 + $1.changes.count } }

    /// Whether no changes are known.
    public var isEmpty: Bool { parts.allSatisfy(\.changes.isEmpty) }

    /// The names of the entities with changed objects.
    public var entities: Set<String> {
        var found: Set<EntityIndex> = []
        for part in parts { for run in part.changes.keyRuns { found.insert(run.entity) } }
        return Set(found.compactMap { model.schema.descriptions.indices.contains($0) ? model.schema[$0].name : nil })
    }

    /// Returns an iterator over all changes, store by store, in the order of the first change of each object.
    public func makeIterator() -> AnyIterator<ObjectChange> {
        var part = parts.makeIterator(), store = UUID.placeholder, changes: HistoryChanges.Iterator?
        return AnyIterator { [model] in
            while true {
                while let change = changes?.next() {
                    if let told = Self.told(change, store, model.schema) { return told }
                }
                guard let next = part.next() else { return nil }
                store = next.store
                changes = next.changes.makeIterator()
            }
        }
    }

    // MARK: By class

    /// Returns the ids of the inserted objects of a class.
    public func insertedObjectIDs<Object: ManagedObject>(_ type: Object.Type = ManagedObject.self) -> [ObjectID<Object>] {
        ids { if case .insert = $0 { true } else { false } }
    }

    /// Returns the ids of the previously existing objects of a class with changed values or relationships, without duplicates. Those with
    /// changed to-many relationships are also in ``relinkedObjectIDs(_:)``.
    public func updatedObjectIDs<Object: ManagedObject>(_ type: Object.Type = ManagedObject.self) -> [ObjectID<Object>] {
        let changed: [ObjectID<Object>] = ids { kind in
            switch kind {
            case .update, .links: true
            case .insert, .delete: false
            }
        }
        let relinked: [ObjectID<Object>] = ids { if case .links = $0 { true } else { false } }
        if relinked.isEmpty { return changed }
        // Changed pairs are also reported for a new object, and an object with changed values and pairs has both changes.
        let others: [ObjectID<Object>] = ids { kind in
            switch kind {
            case .insert, .delete: true
            case .update, .links: false
            }
        }
        var seen = Set(others)
        return changed.filter { seen.insert($0).inserted }
    }

    /// Returns the ids of the objects of a class whose to-many relationships have other destinations or another order, without duplicates,
    /// as `ObjectChange.Kind.relinked` reports it: for the side that owns the pairs, and also for inserted and deleted objects with pairs.
    public func relinkedObjectIDs<Object: ManagedObject>(_ type: Object.Type = ManagedObject.self) -> [ObjectID<Object>] {
        var seen: Set<ObjectID<Object>> = []
        return ids { if case .links = $0 { true } else { false } }.filter { seen.insert($0).inserted }
    }

    /// The numbers of changes, by kind. Changes of to-many relationships are none of the objects that have them.
    var counts: (inserted: Int, updated: Int, deleted: Int, relinked: Int) {
        var counts = (inserted: 0, updated: 0, deleted: 0, relinked: 0)
        for part in parts {
            for run in part.changes.keyRuns {
                switch run.kind {
                case .insert: counts.inserted += run.keys.count
                case .update: counts.updated += run.keys.count
                case .delete: counts.deleted += run.keys.count
                case .links: counts.relinked += run.keys.count
                }
            }
        }
        return counts
    }

    /// Returns the ids of the deleted objects of a class.
    public func deletedObjectIDs<Object: ManagedObject>(_ type: Object.Type = ManagedObject.self) -> [ObjectID<Object>] {
        ids { if case .delete = $0 { true } else { false } }
    }

    /// Returns the stored names of the changed properties of a previously existing object: attributes, to-one relationships, and to-many
    /// relationships whose pairs it owns.
    public func changedKeys<Object: ManagedObject>(of id: ObjectID<Object>) -> Set<String> {
        var names: Set<String> = []
        for change in changes(of: id.key) {
            switch change.kind {
            case .updated(let changed): names.formUnion(changed)
            case .relinked(let name): names.insert(name)
            case .inserted, .deleted: break
            }
        }
        return names
    }

    /// Returns the values that the model preserves of a deleted object, by stored name; nil if the object was not deleted.
    public func tombstone<Object: ManagedObject>(of id: ObjectID<Object>) -> [String: Value]? {
        for change in changes(of: id.key) { if case .deleted(let values) = change.kind { return values } }
        return nil
    }

    // MARK: Finding

    private func ids<Object: ManagedObject>(_ isWanted: (HistoryChange.Kind) -> Bool) -> [ObjectID<Object>] {
        let entities = entities(of: Object.self)
        return parts.flatMap { part in
            part.changes.keyRuns.flatMap { run -> [ObjectID<Object>] in
                guard entities.contains(run.entity), isWanted(run.kind) else { return [] }
                let root = model.schema[model.schema[run.entity].root].name
                return run.keys.map { ObjectID(ObjectKey(store: part.store, root: root, key: $0)) }
            }
        }
    }

    /// Returns the entities of a class and its subclasses.
    private func entities(of type: ManagedObject.Type) -> Set<EntityIndex> {
        if type == ManagedObject.self { return Set(model.schema.descriptions.indices) }
        if let entity = model.entities[ObjectIdentifier(type)] { return Set(model.schema[entity].family) }
        return Set(model.types.indices.filter { model.types[$0] == type })
    }

    private func changes(of key: ObjectKey) -> [ObjectChange] {
        parts.filter { $0.store == key.store }.flatMap { part -> [ObjectChange] in
            var offset = 0, found: [ObjectChange] = []
            for run in part.changes.keyRuns {
                if run.keys.contains(key.key) {
                    let change = part.changes[offset + Int(key.key - run.keys.lowerBound)]
                    if let told = Self.told(change, part.store, model.schema), told.key == key { found.append(told) }
                }
                offset += run.keys.count
            }
            return found
        }
    }

    /// Converts a change to the names of a schema; nil if the schema does not have the changed entity or property.
    private static func told(_ change: HistoryChange, _ store: UUID, _ schema: Schema) -> ObjectChange? {
        guard schema.descriptions.indices.contains(change.entity) else { return nil }
        let entity = schema[change.entity]
        func name(_ slot: Int) -> String? { entity.slots.indices.contains(slot) ? entity.slots[slot].name : nil }
        let kind: ObjectChange.Kind
        switch change.kind {
        case .insert: kind = .inserted
        case .update(let mask): kind = .updated(Set(mask.slots.compactMap(name)))
        case .delete:
            var values: [String: Value] = [:]
            for (slot, value) in change.tombstone { if let name = name(slot) { values[name] = value } }
            kind = .deleted(values)
        case .links(let link):
            guard schema.links.indices.contains(link) else { return nil }
            kind = .relinked(schema.links[link].ownerRelationship)
        }
        let root = schema[entity.root].name
        return ObjectChange(key: ObjectKey(store: store, root: root, key: change.key), entity: entity.name, kind: kind)
    }
}
