internal import PolystoreStorage

/// An index whose order is that of a fetch, as far as it goes.
struct IndexOrder {
    let use: IndexUse
    let isAscending: Bool
    /// The number of leading slots of the index whose values make a group; rows of a group are in no other order than that of their keys,
    /// or are sorted by themselves.
    let groupSlots: Int
    /// Whether rows of a group still have to be sorted, by further keys of the order.
    let sortsGroups: Bool

    /// The index that gives the longest part of an order; nil when none begins with it.
    static func best(_ plan: FetchPlan, _ uses: [IndexUse], _ layout: KeyValueLayout) -> IndexOrder? {
        guard let first = plan.sort.first else { return nil }
        let orders = uses.compactMap { use in IndexOrder(use, plan.sort, isAscending: first.ascending) }
        return orders.max { a, b in (a.use.isExact ? 1 : 0, a.groupSlots) < (b.use.isExact ? 1 : 0, b.groupSlots) }
    }

    private init?(_ use: IndexUse, _ sort: [CheckedSort], isAscending: Bool) {
        let slots = use.index.slots
        // What has one value in all entries orders nothing.
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
