internal import PolystoreFoundation

extension ListChanges {
    /// Computes the changes from one list to another without further information.
    ///
    /// The time is linear in the length of the lists if few items differ, and then no item is hashed. In the worst case all items except
    /// those at the ends cost the logarithm of their number each. `updated` are items whose values changed; those that are not in both
    /// lists are ignored. Sections with the same name are the same, unless `pairs` states otherwise.
    init(from old: ListContents, to new: ListContents, updated: Set<ListContents.Item> = [], pairs: SectionPairs? = nil) {
        let match = ListMatch(from: old, to: new, pairs: pairs)
        self.init(match, updated: ItemFilter(updated).positions(in: old.items))
    }

    /// Computes the changes between lists that differ by few items only: all others are in both and kept their order.
    ///
    /// Only the touched items are hashed and sorted; the others are read once. If the others do not match as promised, which this pass
    /// detects, the lists are compared without further information.
    init(
        from old: ListContents, to new: ListContents, touched: Set<ListContents.Item>, updated: Set<ListContents.Item>,
        pairs: SectionPairs? = nil
    ) {
        let filter = ItemFilter(touched.isSuperset(of: updated) ? touched : touched.union(updated))
        let loose = (old: filter.positions(in: old.items), new: filter.positions(in: new.items))
        guard Self.agree(old.items, new.items, besides: loose) else {
            self.init(from: old, to: new, updated: updated, pairs: pairs)
            return
        }
        let match = ListMatch(old, new, loose: loose, pairs: pairs ?? SectionPairs(old: old.sections, new: new.sections))
        self.init(match, updated: loose.old.filter { updated.contains(old.items[$0]) })
    }

    /// Computes the changes if the positions at which the lists differ are known, in ascending order. Then neither list is traversed. All
    /// other items are in both and kept their order.
    init(
        from old: ListContents, to new: ListContents, loose: (old: [Int], new: [Int]), updated: Set<ListContents.Item>
    ) {
        let match = ListMatch(old, new, loose: loose, pairs: SectionPairs(old: old.sections, new: new.sections))
        self.init(match, updated: loose.old.filter { updated.contains(old.items[$0]) })
    }

    /// Creates the changes of a match as index paths. `updated` are positions of the old list, ascending, including those of deleted items.
    init(_ match: ListMatch, updated: [Int]) {
        deletedSections = match.deletedSections
        insertedSections = match.insertedSections
        deleted = match.oldStarts.paths(at: match.deleted)
        inserted = match.newStarts.paths(at: match.inserted)
        let sources = match.oldStarts.paths(at: match.moved.map(\.from))
        let goals = match.newStarts.paths(at: match.moved.map(\.to))
        moved = zip(sources, goals).map { Move(from: $0, to: $1) }
        self.updated = match.oldStarts.paths(at: Self.without(match.deleted, updated))
    }

    /// Returns whether two lists are equal except for the items at these positions.
    private static func agree(
        _ old: ContiguousArray<ListContents.Item>, _ new: ContiguousArray<ListContents.Item>, besides loose: (old: [Int], new: [Int])
    ) -> Bool {
        guard old.count - loose.old.count == new.count - loose.new.count else { return false }
        var nextOld = 0, nextNew = 0, first = 0, second = 0
        while true {
            while first < loose.old.count, loose.old[first] == nextOld { (first, nextOld) = (first + 1, nextOld + 1) }
            while second < loose.new.count, loose.new[second] == nextNew { (second, nextNew) = (second + 1, nextNew + 1) }
            // Up to the next loose item of either list.
            let run = min(
                (first < loose.old.count ? loose.old[first] : old.count) - nextOld,
                (second < loose.new.count ? loose.new[second] : new.count) - nextNew)
            if run == 0 { return true }
            guard old[nextOld..<nextOld + run] == new[nextNew..<nextNew + run] else { return false }
            (nextOld, nextNew) = (nextOld + run, nextNew + run)
        }
    }

    /// Returns ascending positions without others.
    private static func without(_ others: [Int], _ positions: [Int]) -> [Int] {
        var next = 0
        return positions.filter { position in
            while next < others.count, others[next] < position { next += 1 }
            return next == others.count || others[next] != position
        }
    }
}
