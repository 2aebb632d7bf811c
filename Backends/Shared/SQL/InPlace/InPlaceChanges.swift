internal import PolystoreStorage

/// The changes of a transaction whose log is not in the order of the changes, reduced to one for each object.
///
/// PostgreSQL logs the rows of a statement at its end, when the statements of the owner's triggers have logged theirs. What a transaction did
/// to a row follows from the numbers of its insertions and deletions, and from whether the row exists after the last one.
struct InPlaceChanges {
    private struct Row: Hashable {
        let entity: EntityIndex, key: Int64
    }

    private enum Item {
        case row(Row)
        case links(HistoryChange)
    }

    /// The events of one row.
    private struct Events {
        /// The number of insertions minus the number of deletions.
        var balance = 0
        /// Whether the row exists after the last event.
        var exists = true
        /// Whether the row was inserted or deleted, so that all its values may be others.
        var isNew = false
        var mask = SlotMask()
    }

    private let everything: (EntityIndex) -> SlotMask
    private var items: [Item] = []
    private var events: [Row: Events] = [:]

    /// - Parameter everything: Returns the mask of all slots of an entity.
    init(everything: @escaping (EntityIndex) -> SlotMask) { self.everything = everything }

    /// Adds an event.
    ///
    /// - Parameter isContrary: Whether another statement has already undone the change: an inserted or updated row no longer exists, or a
    ///   deleted one exists again.
    mutating func add(_ change: HistoryChange, isContrary: Bool) {
        let row = Row(entity: change.entity, key: change.key)
        var events = events[row] ?? Events()
        switch change.kind {
        case .links: return items.append(.links(change))
        case .insert:
            events.balance += 1
            events.isNew = true
        case .delete:
            events.balance -= 1
            events.isNew = true
        case .update(let mask): events.mask.formUnion(mask)
        }
        events.exists = (change.kind != .delete) != isContrary
        if self.events.updateValue(events, forKey: row) == nil { items.append(.row(row)) }
    }

    /// The changes, in the order in which the objects first occur. Pairs of an object that exists neither before nor afterwards are left out.
    var result: [HistoryChange] {
        items.compactMap { item in
            switch item {
            case .row(let row): kind(row).map { HistoryChange(entity: row.entity, key: row.key, kind: $0) }
            case .links(let change):
                events[Row(entity: change.entity, key: change.key)] != nil
                    && kind(Row(entity: change.entity, key: change.key)) == nil ? nil : change
            }
        }
    }

    private func kind(_ row: Row) -> HistoryChange.Kind? {
        guard let events = events[row] else { return nil }
        let existed = (events.exists ? 1 : 0) - events.balance > 0
        if existed { return events.exists ? .update(events.isNew ? everything(row.entity) : events.mask) : .delete }
        return events.exists ? .insert : nil
    }
}
