package import PolystoreFoundation
package import PolystoreStorage

/// A reader of the change log beside the tables of another program, which builds history entries from it.
///
/// The log contains names of tables and columns instead of numbers, because the owner of the tables may change them at any time. Changes of
/// tables and columns that no longer exist are left out.
package struct InPlaceLog {
    private struct Entry {
        let position: Int64, time: Int64
        let author: String
        var changes: [HistoryChange] = []
        /// The positions of the changes that another statement had already undone when they were logged.
        var contrary: Set<Int> = []
    }

    /// The separator between the names of changed columns, and the name that stands for all columns.
    package static let separator: Character = "\u{1f}", everything = "*"
    /// The types of the columns that `add` takes: position, time, author, source, key, kind and columns.
    package static let types: [ValueType] = [.int64, .int64, .string, .string, .int64, .string, .string]

    private let tables: InPlaceTables
    private let isInOrder: Bool
    private var entities: [String: EntityIndex] = [:]
    private var links: [String: Int] = [:]
    private var slots: [EntityIndex: [String: Int]] = [:]
    private var entries: [Entry] = []

    /// Returns the history of a read-only store of which not all tables have triggers: the log does not contain the changes of other
    /// programs to such tables.
    ///
    /// - Throws: `tokenExpired` for a token.
    package static func unwatched(_ token: HistoryToken?) throws(StorageError) -> [HistoryEntry] {
        if token == nil { return [] }
        throw StorageError(
            .tokenExpired,
            "not all tables have the triggers that record changes; open the store for writing once, and read all objects again"
        )
    }

    /// Creates a log without entries.
    ///
    /// - Parameter isInOrder: Whether the log has the changes of a row in the order in which they were made.
    package init(_ tables: InPlaceTables, isInOrder: Bool) {
        self.tables = tables
        self.isInOrder = isInOrder
        for (index, table) in tables.tables.enumerated() { entities[table.name] = index }
        for (index, pairs) in tables.pairs.enumerated() { links[pairs.name] = index }
    }

    /// Whether a row at a position would begin an entry beyond the limit.
    package func isFull(_ limit: Int, next position: Int64) -> Bool { entries.count >= limit && entries.last?.position != position }

    /// Adds a row of the log. The rows of an entry are adjacent and have its position.
    package mutating func add(_ row: [Value]) {
        let position = row[0].number
        if entries.last?.position != position { entries.append(Entry(position: position, time: row[1].number, author: row[2].text)) }
        let kind = row[5].text
        guard let change = change(row[3].text, row[4].number, kind.lowercased(), row[6].text) else { return }
        let last = entries.count - 1
        if kind != kind.lowercased() { entries[last].contrary.insert(entries[last].changes.count) }
        entries[last].changes.append(change)
    }

    private mutating func change(_ source: String, _ key: Int64, _ kind: String, _ changed: String) -> HistoryChange? {
        if kind == "l" {
            guard let link = links[source] else { return nil }
            return HistoryChange(entity: tables.schema.links[link].owner, key: key, kind: .links(link))
        }
        guard let entity = entities[source] else { return nil }
        switch kind {
        case "i": return HistoryChange(entity: entity, key: key, kind: .insert)
        case "d": return HistoryChange(entity: entity, key: key, kind: .delete)
        case "u": return HistoryChange(entity: entity, key: key, kind: .update(mask(entity, changed)))
        default: return nil
        }
    }

    private mutating func mask(_ entity: EntityIndex, _ changed: String) -> SlotMask {
        if changed == Self.everything { return tables.tables[entity].everything }
        var mask = SlotMask()
        let known = slots[entity] ?? tables.tables[entity].slots
        slots[entity] = known
        for name in changed.split(separator: Self.separator) { if let slot = known[String(name)] { mask.insert(slot) } }
        return mask
    }

    /// Returns the entries, with one change for each object.
    package func entries(of store: UUID, _ rules: HistoryRules) -> [HistoryEntry] {
        entries.map { entry in
            HistoryEntry(
                token: HistoryToken(store: store, position: entry.position), time: entry.time, author: entry.author,
                changes: changes(entry, rules))
        }
    }

    /// Returns the changes of the added rows, which all belong to one transaction, with one change for each object.
    package func changes(_ rules: HistoryRules) -> HistoryChanges { entries.first.map { changes($0, rules) } ?? HistoryChanges() }

    private func changes(_ entry: Entry, _ rules: HistoryRules) -> HistoryChanges {
        var recorder = HistoryRecorder(rules)
        recorder.add(HistoryChanges(isInOrder ? entry.changes : reduced(entry)))
        return recorder.encode().withUnsafeBytes(HistoryRecorder.decode) ?? HistoryChanges()
    }

    private func reduced(_ entry: Entry) -> [HistoryChange] {
        var changes = InPlaceChanges { tables.tables[$0].everything }
        for (index, change) in entry.changes.enumerated() { changes.add(change, isContrary: entry.contrary.contains(index)) }
        return changes.result
    }
}
