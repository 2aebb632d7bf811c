public import PolystoreObjects

extension ListSnapshot {
    /// Returns the changes from another snapshot to this one. The updates are the `updatedItemIDs` of this one.
    public func changes(from old: ListSnapshot) -> ListChanges {
        ListChanges(from: old.placed(like: self).contents, to: contents, updated: perhapsUpdated)
    }

    private var perhapsUpdated: Set<ListContents.Item> { isAnew ? Set(contents.items) : updated }

    /// Returns the steps from another snapshot to this one, in order. The last one ends at this one. There are none if nothing changed.
    public func stages(from old: ListSnapshot) -> [ListStage<Object>] {
        let old = old.placed(like: self)
        let changes = ListChanges(from: old.contents, to: contents, updated: perhapsUpdated)
        let stages = ContentsStage.stages(from: old.contents, to: contents, by: changes)
        return stages.enumerated().map { index, stage in
            // The stores of the old list may be more numerous; they begin with those of this one.
            let snapshot = index == stages.count - 1 ? self : ListSnapshot(stage.contents, stores: old.stores)
            return ListStage(movedSections: stage.movedSections, changes: stage.changes, snapshot: snapshot)
        }
    }

    /// Returns the difference from another snapshot to this one without sections: removals and insertions at positions among all objects. A
    /// move is a removal and an insertion that are associated; the number of moves is minimal.
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

    /// Returns the same list with the store positions of another.
    private func placed(like other: ListSnapshot) -> ListSnapshot {
        if stores == other.stores { return self }
        var both = other.stores, placed = contents
        // There are more stores than can be distinguished: nothing counts as common.
        var positions: [Int32: Int32] = [:]
        for (position, origin) in stores.origins.sorted(by: { $0.key < $1.key }) { positions[position] = try? both.adopt(origin) }
        guard positions.count == stores.origins.count else { return ListSnapshot(ListContents(), stores: both) }
        placed.items = ContiguousArray(contents.items.map { ListContents.Item(key: $0.key, store: positions[$0.store] ?? $0.store) })
        return ListSnapshot(placed, stores: both)
    }
}

extension ListSnapshot {
    /// Returns the same list, in which the updated items of another also count as updated, if it contains them.
    func updating(_ other: ListSnapshot) -> ListSnapshot {
        var both = updating(other.updatedItemIDs.compactMap { stores.item(of: $0.key) })
        both.isAnew = isAnew || other.isAnew
        return both
    }

    /// Returns the same list, in which these items also count as updated, if it contains them.
    func updating(_ items: some Sequence<ListContents.Item>) -> ListSnapshot {
        var both = self
        both.updated.formUnion(items.filter { finder.position(of: $0, in: contents.items) != nil })
        return both
    }
}
