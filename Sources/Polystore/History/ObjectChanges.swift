internal import Foundation
public import PolystoreStorage

/// What was changed: of each object one change, and one for each relationship to many whose pairs changed.
///
/// It is a sequence of all changes, and answers by class; a class stands for those below it too. A hundred thousand inserts take no more room
/// than one: the changes are computed while they are walked through.
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

    /// Whether nothing is known to have changed.
    public var isEmpty: Bool { parts.allSatisfy(\.changes.isEmpty) }

    /// The names of the entities of which something changed.
    public var entities: Set<String> {
        var found: Set<EntityIndex> = []
        for part in parts { for run in part.changes.keyRuns { found.insert(run.entity) } }
        return Set(found.compactMap { model.schema.descriptions.indices.contains($0) ? model.schema[$0].name : nil })
    }

    /// Walks through all changes, store by store, in the order in which the objects were first changed.
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

    /// The ids of the objects of a class that were added.
    public func insertedObjectIDs<Object: ManagedObject>(_ type: Object.Type = ManagedObject.self) -> [ObjectID<Object>] {
        ids { if case .insert = $0 { true } else { false } }
    }

    /// The ids of the objects of a class that were there before and in which values or relationships changed, each once.
    public func updatedObjectIDs<Object: ManagedObject>(_ type: Object.Type = ManagedObject.self) -> [ObjectID<Object>] {
        let changed: [ObjectID<Object>] = ids { kind in
            switch kind {
            case .update, .links: true
            case .insert, .delete: false
            }
        }
        let relinked: [ObjectID<Object>] = ids { if case .links = $0 { true } else { false } }
        if relinked.isEmpty { return changed }
        // Of a new object the pairs are told too, and of one whose values and pairs changed both.
        let others: [ObjectID<Object>] = ids { kind in
            switch kind {
            case .insert, .delete: true
            case .update, .links: false
            }
        }
        var seen = Set(others)
        return changed.filter { seen.insert($0).inserted }
    }

    /// The ids of the objects of a class that were deleted.
    public func deletedObjectIDs<Object: ManagedObject>(_ type: Object.Type = ManagedObject.self) -> [ObjectID<Object>] {
        ids { if case .delete = $0 { true } else { false } }
    }

    /// The stored names of what changed in an object that was there before: attributes, relationships to one, and relationships to many
    /// whose pairs it owns.
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

    /// What the model preserves of an object that was deleted, by stored name; nil if it was not.
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

    /// The entities of a class and of those below it.
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

    /// A change in the names of a schema; nil where the schema does not have what it is about.
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
