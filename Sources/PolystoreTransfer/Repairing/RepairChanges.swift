internal import PolystoreStorage

/// The changes of objects of one part of a repair, as change sets.
struct RepairChanges {
    private static let blockSize = 1024

    /// The slots that change in an object.
    private struct Change {
        let row: RepairStep.Row
        var slots: [Int: Int64?]
    }

    private let schema: Schema
    /// The versions that the repair has given to rows since the check found them.
    private let versions: [RepairStep.Row: Int64]

    init(_ schema: Schema, _ versions: [RepairStep.Row: Int64]) {
        self.schema = schema
        self.versions = versions
    }

    private func version(_ row: RepairStep.Row) -> Int64 { versions[row] ?? row.version }

    /// Passes the updates of values and references to `body`. An object is updated once, in the version in which the check found it.
    func updates(_ steps: Set<RepairStep>, _ body: (ChangeSet) throws(StorageError) -> Void) throws(StorageError) {
        var changes: [RepairStep.Row: [Int: Int64?]] = [:]
        for step in steps {
            switch step {
            case .clearValue(let row, let slot): changes[row, default: [:]][slot] = .some(nil)
            case .setReference(let row, let slot, let key):
                // A reference that is set replaces one that leads nowhere.
                if key == nil, changes[row]?[slot] != nil { continue }
                changes[row, default: [:]][slot] = .some(key)
            case .rebuildIndexes, .setVersion, .raiseKeys, .addPair, .renumber, .appendMember, .removePair, .delete, .removeRow,
                .purgeHistory:
                break
            }
        }
        var groups: [EntityIndex: [[Int]: [Change]]] = [:]
        for (row, slots) in changes {
            groups[row.entity, default: [:]][slots.keys.sorted(), default: []].append(Change(row: row, slots: slots))
        }
        for (entity, masks) in groups.sorted(by: { $0.key < $1.key }) {
            for (slots, rows) in masks.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
                let rows = rows.sorted { $0.row.key < $1.row.key }
                for start in stride(from: 0, to: rows.count, by: Self.blockSize) {
                    try body(changeSet(entity, slots, Array(rows[start..<min(start + Self.blockSize, rows.count)])))
                }
            }
        }
    }

    private func changeSet(_ entity: EntityIndex, _ slots: [Int], _ rows: [Change]) -> ChangeSet {
        var mask = SlotMask()
        for slot in slots { mask.insert(slot) }
        let count = schema[entity].slots.count
        let source = RowSource(count: rows.count) { range, batch in
            for change in rows[range] {
                let cells = batch.appendRow(key: change.row.key, version: version(change.row), entity: entity, slots: count)
                cells.initialize(repeating: .null, count: count)
                for (slot, key) in change.slots { cells[slot] = key.map(Cell.int) ?? .null }
            }
        }
        return ChangeSet(entities: [EntityChanges(entity: entity, updates: [RowUpdate(mask: mask, checksVersion: true, rows: source)])])
    }

    /// Passes the deletions of objects to `body`, each in the version in which the check found it.
    func deletions(_ steps: Set<RepairStep>, _ body: (ChangeSet) throws(StorageError) -> Void) throws(StorageError) {
        var deletions: [EntityIndex: [RowDeletion]] = [:]
        for case .delete(let row) in steps {
            deletions[row.entity, default: []].append(RowDeletion(key: row.key, expectedVersion: version(row)))
        }
        for (entity, list) in deletions.sorted(by: { $0.key < $1.key }) {
            let list = list.sorted { $0.key < $1.key }
            for start in stride(from: 0, to: list.count, by: Self.blockSize) {
                let block = Array(list[start..<min(start + Self.blockSize, list.count)])
                try body(ChangeSet(entities: [EntityChanges(entity: entity, deletes: block)]))
            }
        }
    }

    /// A pair of a link table, without its rank.
    private struct Place: Hashable {
        let link: Int
        let owner: Int64
        let member: Int64

        init(_ link: Int, _ pair: LinkPair) {
            self.link = link
            owner = pair.owner
            member = pair.member
        }
    }

    /// Returns the changes of the link tables. New members follow the last one of their owner.
    func members(_ steps: Set<RepairStep>, _ writer: WriteSession) throws(StorageError) -> ChangeSet {
        var changes: [Int: LinkChanges] = [:], appended: [Int: [Int64: [Int64]]] = [:], renumbered: [Int: Set<Int64>] = [:]
        // A reference decides about its pair: one that is removed is not added to the side that lacks it.
        let removed = Set(steps.compactMap { step in if case .removePair(let link, let pair) = step { Place(link, pair) } else { nil } })
        for step in steps {
            switch step {
            case .addPair(let link, let pair) where removed.contains(Place(link, pair)): break
            case .addPair(let link, let pair): changes[link, default: LinkChanges(link: link)].added.append(pair)
            case .removePair(let link, let pair): changes[link, default: LinkChanges(link: link)].removed.append(pair)
            case .appendMember(let link, let owner, let member): appended[link, default: [:]][owner, default: []].append(member)
            case .renumber(let link, let owner): renumbered[link, default: []].insert(owner)
            case .rebuildIndexes, .setVersion, .raiseKeys, .setReference, .clearValue, .delete, .removeRow, .purgeHistory: break
            }
        }
        for link in Set(appended.keys).union(renumbered.keys) {
            var pairs: [LinkPair] = []
            for owner in Set((appended[link] ?? [:]).keys).union(renumbered[link] ?? []) {
                let isRenumbered = renumbered[link]?.contains(owner) ?? false
                pairs += try list(owner, appended[link]?[owner] ?? [], isRenumbered: isRenumbered, removed, link, writer)
            }
            let places = Set(pairs.map { Place(link, $0) }), others = changes[link]?.added.filter { !places.contains(Place(link, $0)) }
            changes[link, default: LinkChanges(link: link)].added = (others ?? []) + pairs
        }
        return ChangeSet(links: changes.values.sorted { $0.link < $1.link }.map(Self.sorted))
    }

    /// Returns the pairs of an owner that change when members are added after its last one.
    ///
    /// - Parameter isRenumbered: Whether all members get new ranks in the same order. They do so, too, if no rank is left.
    private func list(
        _ owner: Int64, _ members: [Int64], isRenumbered: Bool, _ removed: Set<Place>, _ link: Int, _ writer: WriteSession
    ) throws(StorageError) -> [LinkPair] {
        var pairs: [LinkPair] = [], last: Int64?
        try writer.links(link, side: .owner, keys: [owner]) { found in pairs += found.filter { !removed.contains(Place(link, $0)) } }
        let isRenumbered = isRenumbered || !NextRank.hasRoom(after: pairs.last?.rank, for: members.count)
        if !isRenumbered { last = pairs.last?.rank }
        var changed: [LinkPair] = []
        for member in (isRenumbered ? pairs.map(\.member) : []) + members.sorted() {
            let rank = schema.links[link].isOrdered ? try NextRank.rank(after: last, of: owner, schema.links[link], schema) : 0
            changed.append(LinkPair(owner: owner, rank: rank, member: member))
            last = rank
        }
        return changed
    }

    private static func sorted(_ changes: LinkChanges) -> LinkChanges {
        func sorted(_ pairs: [LinkPair]) -> [LinkPair] { pairs.sorted { ($0.owner, $0.rank, $0.member) < ($1.owner, $1.rank, $1.member) } }
        return LinkChanges(link: changes.link, removed: sorted(changes.removed), added: sorted(changes.added))
    }
}
