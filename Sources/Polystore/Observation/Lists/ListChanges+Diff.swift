internal import Foundation

extension ListChanges {
    /// What leads from one list to another, of which nothing else is known.
    ///
    /// Linear in the length of the lists where few items differ, and then none is hashed; at worst all items but those at the ends cost the
    /// logarithm of their number each. `updated` are items whose values changed; those that are not in both lists are passed over.
    /// Sections are the same that have one name, if nothing else is said.
    init(from old: ListContents, to new: ListContents, updated: Set<ListContents.Item> = [], pairs: SectionPairs? = nil) {
        let match = ListMatch(from: old, to: new, pairs: pairs)
        self.init(match, updated: ItemFilter(updated).positions(in: old.items))
    }

    /// The same for lists that differ by few items only: all others are in both and kept their order.
    ///
    /// Only the touched items are hashed and sorted; the others are looked at once. Should the others not be as they are said to be,
    /// which is seen in passing, then the lists are compared as if nothing were known.
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

    /// The same where it is known at which positions the lists differ, ascending: then neither is looked through. All other items are in both
    /// and kept their order.
    init(
        from old: ListContents, to new: ListContents, loose: (old: [Int], new: [Int]), updated: Set<ListContents.Item>
    ) {
        let match = ListMatch(old, new, loose: loose, pairs: SectionPairs(old: old.sections, new: new.sections))
        self.init(match, updated: loose.old.filter { updated.contains(old.items[$0]) })
    }

    /// What a match says, in index paths; `updated` are positions of the old list, ascending, also of deleted items.
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

    /// Whether two lists are the same but for the items at these positions.
    private static func agree(
        _ old: ContiguousArray<ListContents.Item>, _ new: ContiguousArray<ListContents.Item>, besides loose: (old: [Int], new: [Int])
    ) -> Bool {
        guard old.count - loose.old.count == new.count - loose.new.count else { return false }
        var nextOld = 0, nextNew = 0, first = 0, second = 0
        while true {
            while first < loose.old.count, loose.old[first] == nextOld { (first, nextOld) = (first + 1, nextOld + 1) }
            while second < loose.new.count, loose.new[second] == nextNew { (second, nextNew) = (second + 1, nextNew + 1) }
            // As far as neither list has a loose item.
            let run = min(
                (first < loose.old.count ? loose.old[first] : old.count) - nextOld,
                (second < loose.new.count ? loose.new[second] : new.count) - nextNew)
            if run == 0 { return true }
            guard old[nextOld..<nextOld + run] == new[nextNew..<nextNew + run] else { return false }
            (nextOld, nextNew) = (nextOld + run, nextNew + run)
        }
    }

    /// Ascending positions without others.
    private static func without(_ others: [Int], _ positions: [Int]) -> [Int] {
        var next = 0
        return positions.filter { position in
            while next < others.count, others[next] < position { next += 1 }
            return next == others.count || others[next] != position
        }
    }
}
