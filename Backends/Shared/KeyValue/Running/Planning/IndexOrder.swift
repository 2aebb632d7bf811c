internal import PolystoreStorage

/// The use of an index whose order matches the sort order of a fetch, completely or up to a prefix.
struct IndexOrder {
    let use: IndexUse
    let isAscending: Bool
    /// The number of leading slots of the index whose values form a group. The rows of a group are ordered by row key alone, or are sorted
    /// separately.
    let groupSlots: Int
    /// Whether the rows of a group still have to be sorted by further sort terms.
    let sortsGroups: Bool

    /// Returns the index that matches the longest prefix of the sort order, or nil when none matches its first term.
    static func best(_ plan: FetchPlan, _ uses: [IndexUse], _ layout: KeyValueLayout) -> IndexOrder? {
        guard let first = plan.sort.first else { return nil }
        let orders = uses.compactMap { use in IndexOrder(use, plan.sort, isAscending: first.ascending) }
        return orders.max { a, b in (a.use.isExact ? 1 : 0, a.groupSlots) < (b.use.isExact ? 1 : 0, b.groupSlots) }
    }

    private init?(_ use: IndexUse, _ sort: [CheckedSort], isAscending: Bool) {
        let slots = use.index.slots
        // Slots with one value in all entries do not affect the order.
        for start in 0...use.fixed {
            var count = 0
            while count < sort.count, start + count < slots.count, sort[count].ascending == isAscending,
                case .path(let path) = sort[count].expression, path.isLocal(slots[start + count])
            {
                count += 1
            }
            if count > 0 {
                self.use = use
                self.isAscending = isAscending
                groupSlots = start + count
                sortsGroups = count < sort.count
                return
            }
        }
        return nil
    }
}
