internal import PolystoreStorage

/// The effect of a migration step on the maps of a store: which maps are kept, under the same or another name, and which are written from
/// scratch.
///
/// Maps are never renamed: the metadata records the map name of each entity, index and link.
struct KeyValueMigrationPlan {
    /// The metadata before and after.
    let before: StoreMetadata, after: StoreMetadata
    /// The rows and links that the caller has to write.
    let work: MigrationWork
    /// The indexes to fill from the rows of hierarchies that are kept, by the names of their maps.
    let freshIndexes: Set<String>
    /// The maps of the older version that the newer one does not have.
    let gone: [String]

    /// The names of all maps of both versions.
    var allNames: [String] {
        KeyValueLayout(before).names + KeyValueLayout(after).names.filter { !KeyValueLayout(before).names.contains($0) }
    }

    /// A description of the effect on each map, for people to read.
    var lines: [String] {
        let new = KeyValueLayout(after), old = Set(KeyValueLayout(before).names), own = Set(KeyValueLayout.ownMaps)
        let kept = new.names.filter { old.contains($0) && !own.contains($0) }.map { "keep \($0)" }
        let written = work.roots.sorted().map { "rewrite the rows of \(after.schema.entities[$0].name)" }
        let paired = work.links.sorted().map { "rewrite the pairs of \(after.schema.links[$0].name)" }
        return kept + written + paired + freshIndexes.sorted().map { "fill \($0) from the rows" } + gone.map { "remove \($0)" }
    }

    init(_ step: MigrationStep, _ before: StoreMetadata) throws(StorageError) {
        try before.check(step)
        let mapping = step.mapping
        var after = StoreMetadata(migrating: before, mapping)
        let old = KeyValueLayout(before), taken = Set(old.names)
        after.mapNames = [:]
        // Without names assigned by the store, the maps have the names of the model.
        let new = KeyValueLayout(after)
        var names: [String: String] = [:], fresh: Set<String> = [], work = MigrationWork(roots: [], links: [])

        func give(_ map: Int, _ place: String?) {
            let name = new.names[map]
            names[name] = place ?? (taken.contains(name) ? "polystore_\(after.migrations).\(name)" : name)
        }

        var kept: [EntityIndex: EntityIndex] = [:]
        for root in mapping.destination.roots {
            if !step.writtenRoots.contains(root), let origin = Self.unchanged(root, mapping, before, after) {
                kept[root] = origin
            } else {
                work.roots.insert(root)
            }
            give(new.rows[root], kept[root].map { old.names[old.rows[$0]] })
        }
        // An entity and its parent can declare equal indexes; each keeps a map of its own.
        var unused = old.allIndexes + old.wordIndexes.joined().unique()
        for index in new.allIndexes + new.wordIndexes.joined().unique() {
            let root = mapping.destination[index.entity].root
            let equal = kept[root] == nil ? [] : unused.filter { Self.isSame(index, $0, mapping) }
            let same = equal.first { $0.name == index.name } ?? equal.first
            unused.removeAll { $0.map == same?.map }
            give(index.map, same.map { old.names[$0.map] })
            if kept[root] != nil, same == nil { fresh.insert(index.name) }
        }
        for (link, origin) in mapping.links.enumerated() {
            var places: (owner: String, member: String)?
            if case .link(let link, false) = origin, Self.stays(link, origin, mapping) {
                places = (old.names[old.links[link].owner], old.names[old.links[link].member])
            } else {
                work.links.insert(link)
            }
            give(new.links[link].owner, places?.owner)
            give(new.links[link].member, places?.member)
        }
        after.mapNames = names.filter { $0.key != $0.value }
        let staying = Set(KeyValueLayout(after).names)
        self.before = before
        self.after = after
        self.work = work
        freshIndexes = fresh
        gone = old.names.filter { !staying.contains($0) }
    }

    /// Returns the old hierarchy whose records are valid for a new hierarchy without change: the same slots of the same kinds, under the
    /// same entity numbers.
    private static func unchanged(
        _ root: EntityIndex, _ mapping: SchemaMapping, _ before: StoreMetadata, _ after: StoreMetadata
    ) -> EntityIndex? {
        let origins = mapping.origins(ofRoot: root)
        guard origins.count == 1, let origin = origins.first else { return nil }
        for entity in mapping.source[origin].family where !mapping.source[entity].isAbstract {
            let parts = mapping.mappings(of: entity)
            guard parts.count == 1, let part = parts.first, mapping.destination[part.destination].root == root,
                before.entityNumbers[entity] == after.entityNumbers[part.destination]
            else { return nil }
            let old = mapping.source[entity].slots, new = mapping.destination[part.destination].slots
            guard old.count == new.count else { return nil }
            for slot in new.indices {
                guard part.slots[slot] == .slot(slot, ifNil: .null), old[slot].cellKind == new[slot].cellKind,
                    lieAlike(old[slot], new[slot])
                else { return nil }
            }
        }
        return origin
    }

    private static func lieAlike(_ old: Slot, _ new: Slot) -> Bool {
        if old.destination != nil { return new.destination != nil }
        return old.type != .decimal && new.type != .decimal || old.type == new.type
    }

    /// Whether an index of a hierarchy that is kept contains the same entries as an index of the older version.
    private static func isSame(_ new: KeyValueLayout.IndexMap, _ old: KeyValueLayout.IndexMap, _ mapping: SchemaMapping) -> Bool {
        let covered = mapping.source[old.entity].family.flatMap { mapping.mappings(of: $0) }.map(\.destination)
        let wanted = mapping.destination[new.entity].family.filter { !mapping.destination[$0].isAbstract }
        let known = wanted.filter { entity in mapping.entities.contains { $0.destination == entity } }
        return Set(covered) == Set(known) && new.slots == old.slots && new.isWords == old.isWords
            && (new.constraint == nil) == (old.constraint == nil)
    }

    /// Whether the pairs of a link are kept: they are ordered in both versions or in neither, and no row keys change.
    private static func stays(_ link: Int, _ origin: LinkSource, _ mapping: SchemaMapping) -> Bool {
        mapping.links.enumerated().contains { target, source in
            let new = mapping.destination.links[target]
            return source == origin && new.isOrdered == mapping.source.links[link].isOrdered
                && [new.owner, new.member].allSatisfy { mapping.origins(ofRoot: mapping.destination[$0].root).count <= 1 }
        }
    }
}

extension Sequence<KeyValueLayout.IndexMap> {
    /// Returns the indexes with each map once.
    func unique() -> [KeyValueLayout.IndexMap] {
        var seen: Set<Int> = []
        return filter { seen.insert($0.map).inserted }
    }
}
