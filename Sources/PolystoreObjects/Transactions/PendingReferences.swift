internal import PolystoreStorage

/// The references that the changes of a detached transaction require or break, compared with the contents of the stores.
///
/// The versions of the changed rows do not suffice: a referenced row can be deleted, a row to be deleted can have received new references,
/// and the pairs of link tables have no versions.
struct PendingReferences {
    /// The identity of an object: store, entity root and primary key.
    struct Target: Hashable {
        let store: Int
        let root: EntityIndex
        let key: Int64
    }

    /// A pair of a link table of a store.
    struct StoredPair: Hashable {
        let table: ChangeTracker.LinkKey
        let pair: ChangeTracker.Pair
    }

    /// A function that runs a closure with a read session of a store.
    typealias Reading = (_ store: Int, _ body: (ReadSession) throws(StorageError) -> Void) throws(StorageError) -> Void

    /// The destinations of assigned references and new pairs that do not exist.
    var missing: Set<Target> = []
    /// The objects to be deleted that are referenced by rows or pairs which were unknown when they were deleted, or that a delete rule reached
    /// through a pair that no longer exists.
    private(set) var referred: Set<Target> = []
    /// The pairs that are assigned a new rank and do not exist: a new order applies only to the remaining members.
    private(set) var lost: Set<StoredPair> = []

    /// The number of keys per lookup.
    private static let block = 500

    /// The stored pairs through which delete rules reached objects, by link table and by the end that the rule belongs to.
    private var paths: [PathPlace: [ChangeTracker.Pair]] = [:]

    private struct PathPlace: Hashable {
        let table: ChangeTracker.LinkKey
        let side: LinkSide
    }

    private let context: ObjectContext
    private let tracker: ChangeTracker

    /// Compares the pending changes with the contents of the stores that the sessions see.
    init(_ context: ObjectContext, _ tracker: ChangeTracker, reading: Reading) throws(StorageError) {
        self.context = context
        self.tracker = tracker
        try findMissing(reading)
        try findReferred(reading)
        try findLost(reading)
    }

    /// Whether all referenced objects exist, and no other objects reference those to be deleted.
    var areIntact: Bool { missing.isEmpty && referred.isEmpty }

    private var schema: Schema { context.model.schema }

    // MARK: Referenced objects

    private mutating func findMissing(_ reading: Reading) throws(StorageError) {
        struct Place: Hashable {
            let store: Int
            let root: EntityIndex
        }
        for (place, targets) in Dictionary(grouping: destinations(), by: { Place(store: $0.store, root: $0.root) }) {
            try reading(place.store) { reader throws(StorageError) in
                for key in try reader.missing(targets.map(\.key), of: place.root) {
                    missing.insert(Target(store: place.store, root: place.root, key: key))
                }
            }
        }
    }

    /// Returns the destinations of assigned references and new pairs.
    private mutating func destinations() -> Set<Target> {
        var targets: Set<Target> = []
        func add(_ entity: EntityIndex, _ key: Int64, _ store: Int) {
            // A new object is not in the store yet, and the version of a changed one is compared separately.
            if let known = context.identityMap(entity, store).find(key), known._dirty != 0 { return }
            targets.insert(Target(store: store, root: schema[entity].root, key: key))
        }
        for object in [tracker.inserted, tracker.changed].joined() where !object.isDeletedObject {
            let mask = tracker.mask(object)
            for relationship in object.description.relationships {
                guard case .slot(let slot) = relationship.place, object.isNew || mask.contains(slot), let key = object._reference(slot)
                else { continue }
                add(relationship.destination, key, Int(object._store))
            }
        }
        for (table, pairs) in tracker.links {
            let link = schema.links[table.link], reranked = tracker.reranked[table] ?? []
            for (pair, rank) in pairs where rank != nil {
                add(link.owner, pair.owner, table.store)
                if !reranked.contains(pair) { add(link.member, pair.member, table.store) }
            }
        }
        for target in Self.assignedElsewhere(context, tracker) {
            if context.identityMap(target.root, target.store).find(target.key)?.isDeletedObject == true {
                missing.insert(target)
            } else {
                add(target.root, target.key, target.store)
            }
        }
        return targets
    }

    /// Returns the destinations of assigned references into other stores of the stack.
    private static func assignedElsewhere(_ context: ObjectContext, _ tracker: ChangeTracker) -> Set<Target> {
        Set(context.assignedReferences(of: [tracker.inserted, tracker.changed].joined()).map(\.target))
    }

    /// Returns the stores that the changes depend on through references into other stores: those of the destinations of assigned references,
    /// and those whose objects may refer to objects that are deleted.
    static func stores(_ context: ObjectContext, _ tracker: ChangeTracker) -> Set<Int> {
        var stores = Set(assignedElsewhere(context, tracker).map(\.store))
        let deleted = Set(tracker.deleted.filter { !$0.isNew }.map { Int($0._entity) })
        for attribute in context.model.references where !deleted.isDisjoint(with: context.model.schema[attribute.destination].family) {
            for (store, entry) in context.stack.entries where entry.entities.contains(attribute.entity) { stores.insert(store) }
        }
        return stores
    }

    // MARK: References to objects to be deleted

    private mutating func findReferred(_ reading: Reading) throws(StorageError) {
        struct Place: Hashable {
            let store: Int
            let entity: EntityIndex
        }
        let stored = tracker.deleted.filter { !$0.isNew }
        findPaths()
        for (place, objects) in Dictionary(grouping: stored, by: { Place(store: Int($0._store), entity: Int($0._entity)) }) {
            try reading(place.store) { reader throws(StorageError) in
                for keys in Self.blocks(objects.map(\._key)) {
                    for relationship in schema[place.entity].relationships {
                        switch relationship.place {
                        case .slot(let slot):
                            switch context.model.inverses[place.entity][slot] {
                            case .none, .toMany: break
                            case .toOne(let inverse): try findReferrers(relationship.destination, inverse, keys, place.store, reader)
                            case .ordered(_, let link): try findPairs(link, .member, keys, place.store, reader)
                            }
                        case .inverseSlot(let slot), .orderedInverseSlot(let slot, _):
                            try findReferrers(relationship.destination, slot, keys, place.store, reader)
                        case .link(let link, let side): try findPairs(link, side, keys, place.store, reader)
                        }
                    }
                    for (entity, slot) in context.model.oneSidedSlots(to: place.entity) {
                        try findReferrers(entity, slot, keys, place.store, reader)
                    }
                    for link in schema.oneSidedLinks(to: place.entity) { try findPairs(link, .member, keys, place.store, reader) }
                    try findOwnReferences(place.entity, keys, place.store, reader)
                }
            }
        }
        for attribute in context.model.references {
            let family = schema[attribute.destination].family
            try findReferrers(attribute, stored.filter { family.contains(Int($0._entity)) }, reading)
        }
    }

    /// Finds objects to be deleted to which another transaction has assigned a reference that matters for the deletion.
    private mutating func findOwnReferences(
        _ entity: EntityIndex, _ keys: [Int64], _ store: Int, _ reader: ReadSession
    ) throws(StorageError) {
        let slots = schema[entity].slots.enumerated().filter { _, slot in
            switch slot.content {
            case .toOne(let relationship, _): relationship.deleteRule != .nullify || context.model.hasCounts
            case .attribute(let attribute): attribute.crossReference.map { $0.deleteRule != .nullify } ?? false
            }
        }.map(\.offset)
        if slots.isEmpty { return }
        let map = context.identityMap(entity, store), batch = RowBatch(capacity: keys.count)
        try reader.rows(entity, keys: keys, into: batch)
        for index in 0..<batch.count {
            let row = batch.row(index)
            guard let known = map.find(row.key), row.version != known._version,
                slots.contains(where: { !row[$0].isNull && Value(row[$0], as: schema[entity].slots[$0].type) != base(of: known, $0) })
            else { continue }
            referred.insert(Target(store: store, root: schema[entity].root, key: row.key))
        }
    }

    /// Returns the stored value of a slot before the changes.
    private func base(of object: ManagedObject, _ slot: Int) -> Value? {
        let row = tracker.bases[ObjectIdentifier(object)]?.row ?? object.encodedRow()
        return withExtendedLifetime(row) { Value(row.row(0)[slot], as: object.description.slots[slot].type) }
    }

    /// Finds the objects that refer from any store to objects to be deleted, and keep the reference.
    private mutating func findReferrers(
        _ attribute: ReferenceAttribute, _ objects: [ManagedObject], _ reading: Reading
    ) throws(StorageError) {
        let path = CheckedPath(
            steps: [], entity: attribute.entity, leaf: .slot(attribute.slot), type: .string,
            text: schema[attribute.entity].slots[attribute.slot].name)
        for start in stride(from: 0, to: objects.count, by: Self.block) {
            let targets = Dictionary(
                objects[start..<min(start + Self.block, objects.count)].map { (context.objectKey(of: $0).description, Target($0)) },
                uniquingKeysWith: { first, _ in first })
            let values = targets.keys.sorted { $0.compareUTF8(to: $1) < 0 }.map(Value.string)
            let plan = FetchPlan(schema, attribute.entity, where: .isIn(.path(path), values))
            for (store, entry) in context.stack.entries where entry.entities.contains(attribute.entity) {
                let map = context.identityMap(attribute.entity, store), batch = RowBatch(capacity: 256)
                try reading(store) { reader throws(StorageError) in
                    let cursor = try reader.cursor(for: plan)
                    while try cursor.next(into: batch) {
                        for index in 0..<batch.count {
                            let row = batch.row(index)
                            if keeps(map.find(row.key), row, attribute.slot),
                                case .string(let text)? = Value(row[attribute.slot], as: .string),
                                let target = targets[text]
                            {
                                referred.insert(target)
                            }
                        }
                    }
                }
            }
        }
    }

    /// Returns whether a stored reference remains, as far as is known.
    private func keeps(_ known: ManagedObject?, _ row: borrowing RowView, _ slot: Int) -> Bool {
        // A row that was changed since may keep its reference, by the policy that resolves its conflict.
        guard let known, known._version == row.version else { return true }
        return !known.isDeletedObject && !tracker.mask(known).contains(slot)
    }

    /// Finds rows that reference objects to be deleted and that keep the reference.
    private mutating func findReferrers(
        _ entity: EntityIndex, _ slot: Int, _ keys: [Int64], _ store: Int, _ reader: ReadSession
    ) throws(StorageError) {
        let description = schema[entity].slots[slot]
        guard let destination = description.destination else { return }
        let path = CheckedPath(steps: [], entity: entity, leaf: .slot(slot), type: .int64, text: description.name)
        let map = context.identityMap(entity, store), batch = RowBatch(capacity: 256)
        let cursor = try reader.cursor(for: FetchPlan(schema, entity, where: .isIn(.path(path), keys.map(Value.int))))
        while try cursor.next(into: batch) {
            for index in 0..<batch.count {
                if !keeps(map.find(batch.key(index)), batch.row(index), slot) { continue }
                referred.insert(Target(store: store, root: schema[destination].root, key: batch.row(index)[slot].int))
            }
        }
    }

    /// Finds pairs of objects to be deleted that the changes do not remove.
    private mutating func findPairs(
        _ link: Int, _ side: LinkSide, _ keys: [Int64], _ store: Int, _ reader: ReadSession
    ) throws(StorageError) {
        let table = ChangeTracker.LinkKey(link: link, store: store), changes = tracker.links[table] ?? [:]
        let (ownerRoot, memberRoot) = (schema[schema.links[link].owner].root, schema[schema.links[link].member].root)
        func target(_ side: LinkSide, _ pair: ChangeTracker.Pair) -> Target {
            side == .owner
                ? Target(store: store, root: ownerRoot, key: pair.owner) : Target(store: store, root: memberRoot, key: pair.member)
        }
        var lost = Set((paths[PathPlace(table: table, side: side)] ?? []).filter { keys.contains(side == .owner ? $0.owner : $0.member) })
        try reader.links(link, side: side, keys: keys) { pairs throws(StorageError) in
            for pair in pairs.lazy.map({ ChangeTracker.Pair(owner: $0.owner, member: $0.member) }) {
                if changes[pair] != .some(.none) { referred.insert(target(side, pair)) }
                if !lost.isEmpty { lost.remove(pair) }
            }
        }
        for pair in lost { referred.insert(target(side == .owner ? .member : .owner, pair)) }
    }

    /// Determines the pairs through which delete rules reached objects that no deletion names.
    private mutating func findPaths() {
        if tracker.clearings.values.allSatisfy(\.removals.isEmpty) { return }
        let reached = Set(tracker.deleted.map(ObjectIdentifier.init)).subtracting(tracker.deletions.joined().map(ObjectIdentifier.init))
        func isReached(_ entity: EntityIndex, _ key: Int64, _ store: Int) -> Bool {
            context.identityMap(entity, store).find(key).map { reached.contains(ObjectIdentifier($0)) } ?? false
        }
        for removal in tracker.clearings.values.lazy.flatMap(\.removals) where removal.former == nil {
            let link = schema.links[removal.key.link], store = removal.key.store, pair = removal.pair
            func cascades(_ entity: EntityIndex, _ name: String?) -> Bool {
                name.flatMap { schema[entity].relationship($0) }?.relationship.deleteRule == .cascade
            }
            if cascades(link.owner, link.ownerRelationship), isReached(link.member, pair.member, store) {
                paths[PathPlace(table: removal.key, side: .owner), default: []].append(pair)
            }
            if cascades(link.member, link.memberRelationship), isReached(link.owner, pair.owner, store) {
                paths[PathPlace(table: removal.key, side: .member), default: []].append(pair)
            }
        }
    }

    // MARK: Pairs with a new rank

    private mutating func findLost(_ reading: Reading) throws(StorageError) {
        for (table, reranked) in tracker.reranked {
            let changes = tracker.links[table] ?? [:]
            let pairs = reranked.filter { (changes[$0] ?? nil) != nil }
            if pairs.isEmpty { continue }
            var found: Set<ChangeTracker.Pair> = []
            try reading(table.store) { reader throws(StorageError) in
                for keys in Self.blocks(Set(pairs.map(\.owner))) {
                    try reader.links(table.link, side: .owner, keys: keys) { links throws(StorageError) in
                        for link in links { found.insert(ChangeTracker.Pair(owner: link.owner, member: link.member)) }
                    }
                }
            }
            for pair in pairs where !found.contains(pair) { lost.insert(StoredPair(table: table, pair: pair)) }
        }
    }

    private static func blocks(_ keys: some Collection<Int64>) -> [[Int64]] {
        let sorted = keys.sorted()
        return stride(from: 0, to: sorted.count, by: block).map { Array(sorted[$0..<min($0 + block, sorted.count)]) }
    }
}

extension PendingReferences.Target {
    /// Creates the identity of an object.
    init(_ object: ManagedObject) {
        self.init(store: Int(object._store), root: object.description.root, key: object._key)
    }

    /// Creates the identity of the destination of a reference; nil if its store is not in the stack.
    init?(_ key: ObjectKey, _ context: ObjectContext) {
        guard let store = context.stack.position(of: key.store), let root = context.model.schema.index(of: key.root) else { return nil }
        self.init(store: store, root: root, key: key.key)
    }
}

extension ChangeSet {
    /// Removes link table pairs of a store from the pairs to be added.
    mutating func remove(_ pairs: Set<PendingReferences.StoredPair>, of store: Int) {
        for index in links.indices {
            let table = ChangeTracker.LinkKey(link: links[index].link, store: store)
            links[index].added.removeAll { pairs.contains(.init(table: table, pair: .init(owner: $0.owner, member: $0.member))) }
        }
        links.removeAll { $0.added.isEmpty && $0.removed.isEmpty }
    }
}

extension StackModel {
    /// Returns the slots of to-one relationships without inverse that reference an entity, with the entity that declares them.
    func oneSidedSlots(to entity: EntityIndex) -> [(entity: EntityIndex, slot: Int)] {
        schema.descriptions.flatMap { owner in
            owner.slots.indices.filter { slot in
                guard let destination = owner.slots[slot].destination, schema[destination].family.contains(entity) else { return false }
                // Inherited slots come first and belong to the parent entity.
                let isInherited = schema.entities[owner.index].parent.flatMap(schema.index).map { slot < schema[$0].slots.count } ?? false
                if isInherited { return false }
                if case .none = inverses[owner.index][slot] { return true }
                return false
            }.map { (owner.index, $0) }
        }
    }
}

extension Schema {
    /// Returns the link tables of relationships without inverse that reference an entity.
    func oneSidedLinks(to entity: EntityIndex) -> [Int] {
        links.indices.filter { links[$0].memberRelationship == nil && self[links[$0].member].family.contains(entity) }
    }
}
