internal import PolystoreStorage

/// The ordered relationships that a detached transaction has changed, at its commit. They are merged with the changes of the transactions
/// that were committed meanwhile.
struct MergedLists {
    private let context: ObjectContext
    private let tracker: ChangeTracker

    init(_ context: ObjectContext, _ tracker: ChangeTracker) {
        self.context = context
        self.tracker = tracker
    }

    /// Replaces the pairs to be added by those of the merged lists.
    ///
    /// - Parameters:
    ///   - changes: The changes of a store, which are about to be written.
    ///   - reader: The session that writes them.
    func merge(into changes: inout ChangeSet, of store: Int, _ reader: ReadSession) throws(StorageError) {
        for index in changes.links.indices {
            let table = ChangeTracker.LinkKey(link: changes.links[index].link, store: store)
            if let lists = tracker.lists[table] { try merge(into: &changes.links[index], table, lists, reader) }
        }
        changes.links.removeAll { $0.added.isEmpty && $0.removed.isEmpty }
    }

    private func merge(
        into changes: inout LinkChanges, _ table: ChangeTracker.LinkKey, _ lists: [Int64: ListMerge.Origin], _ reader: ReadSession
    ) throws(StorageError) {
        // A removal changes no order.
        let owners = Set(changes.added.lazy.map(\.owner).filter { lists[$0] != nil })
        if owners.isEmpty { return }
        var stored: [Int64: [LinkPair]] = [:], own: [Int64: [(ChangeTracker.Pair, Int64?)]] = [:]
        try reader.links(table.link, side: .owner, keys: owners.sorted()) { pairs throws(StorageError) in
            for pair in pairs { stored[pair.owner, default: []].append(pair) }
        }
        for pair in changes.added where owners.contains(pair.owner) {
            own[pair.owner, default: []].append((.init(owner: pair.owner, member: pair.member), pair.rank))
        }
        for pair in changes.removed where owners.contains(pair.owner) {
            own[pair.owner, default: []].append((.init(owner: pair.owner, member: pair.member), nil))
        }
        var merged: [Int64: [LinkPair]] = [:]
        for owner in owners {
            let stored = stored[owner] ?? []
            guard let merge = tracker.merge(of: owner, table, stored, own[owner] ?? []) else { continue }
            let known = Set(stored)
            merged[owner] = merge.pairs(of: owner).filter { !known.contains($0) }
        }
        changes.added.removeAll { merged[$0.owner] != nil }
        changes.added += merged.sorted { $0.key < $1.key }.flatMap(\.value)
    }

    /// The ordered relationships in memory that are changed.
    private var changed: [(object: ManagedObject, relationship: Int)] {
        var changed: [(object: ManagedObject, relationship: Int)] = []
        for (table, pairs) in tracker.links where context.model.schema.links[table.link].isOrdered {
            let link = context.model.schema.links[table.link], map = context.identityMap(link.owner, table.store)
            for owner in Set(pairs.keys.lazy.map(\.owner)) {
                guard let object = map.find(owner) else { continue }
                let position = object.description.relationships.firstIndex { $0.relationship.name == link.ownerRelationship }
                if let position { changed.append((object, position)) }
            }
        }
        return changed
    }

    /// Runs work that ends the changes, and then discards the members in memory of the ordered relationships that were changed, so that they
    /// are read with those of other transactions.
    func forgetting(_ body: () -> Void) {
        let changed = changed
        body()
        for (object, relationship) in changed { object._collections[relationship] = nil }
    }
}
