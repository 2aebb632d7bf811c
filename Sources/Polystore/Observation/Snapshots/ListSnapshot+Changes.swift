internal import PolystoreStorage

extension ListSnapshot {
    /// What leads from another snapshot to this one; `updatedItemIDs` of this one are the updates.
    public func changes(from old: ListSnapshot) -> ListChanges {
        ListChanges(from: old.placed(like: self).contents, to: contents, updated: perhapsUpdated)
    }

    private var perhapsUpdated: Set<ListContents.Item> { isAnew ? Set(contents.items) : updated }

    /// The steps that lead from another snapshot to this one, in order; the last ends at this one. There are none if nothing changed.
    public func stages(from old: ListSnapshot) -> [ListStage<Object>] {
        let old = old.placed(like: self)
        let changes = ListChanges(from: old.contents, to: contents, updated: perhapsUpdated)
        let stages = ContentsStage.stages(from: old.contents, to: contents, by: changes)
        return stages.enumerated().map { index, stage in
            // The stores of the old list may be more: they begin with those of this one.
            let snapshot = index == stages.count - 1 ? self : ListSnapshot(stage.contents, stores: old.stores)
            return ListStage(movedSections: stage.movedSections, changes: stage.changes, snapshot: snapshot)
        }
    }

    /// What leads from another snapshot to this one where sections do not count: removals and insertions at positions among all objects.
    /// A move is a removal and an insertion that know each other; there are as few as possible.
    public func difference(from old: ListSnapshot) -> CollectionDifference<ObjectID<Object>> {
        let match = ListMatch(from: old.placed(like: self).contents.withoutSections, to: contents.withoutSections)
        var changes: [CollectionDifference<ObjectID<Object>>.Change] = []
        for position in match.deleted { changes.append(.remove(offset: position, element: old[position], associatedWith: nil)) }
        for position in match.inserted { changes.append(.insert(offset: position, element: self[position], associatedWith: nil)) }
        for move in match.moved {
            changes.append(.remove(offset: move.from, element: old[move.from], associatedWith: move.to))
            changes.append(.insert(offset: move.to, element: self[move.to], associatedWith: move.from))
        }
        return CollectionDifference(changes) ?? itemIDs.difference(from: old.itemIDs)
    }

    /// The same list, in which the stores have the positions that they have in another.
    private func placed(like other: ListSnapshot) -> ListSnapshot {
        if stores == other.stores { return self }
        var both = other.stores, placed = contents
        // More stores than can be told apart: as if nothing were in common.
        var positions: [Int32: Int32] = [:]
        for (position, origin) in stores.origins.sorted(by: { $0.key < $1.key }) { positions[position] = try? both.adopt(origin) }
        guard positions.count == stores.origins.count else { return ListSnapshot(ListContents(), stores: both) }
        placed.items = ContiguousArray(contents.items.map { ListContents.Item(key: $0.key, store: positions[$0.store] ?? $0.store) })
        return ListSnapshot(placed, stores: both)
    }
}

extension ListSnapshot {
    /// The same list, in which is updated what was updated in another as well, as far as it is in this one.
    func updating(_ other: ListSnapshot) -> ListSnapshot {
        var both = updating(other.updatedItemIDs.compactMap { stores.item(of: $0.key) })
        both.isAnew = isAnew || other.isAnew
        return both
    }

    /// The same list, in which these are updated as well, as far as they are in it.
    func updating(_ items: some Sequence<ListContents.Item>) -> ListSnapshot {
        var both = self
        both.updated.formUnion(items.filter { finder.position(of: $0, in: contents.items) != nil })
        return both
    }
}
