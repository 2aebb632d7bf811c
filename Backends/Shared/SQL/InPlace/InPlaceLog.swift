package import Foundation
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
    }

    /// The separator between the names of changed columns, and the name that stands for all columns.
    package static let separator: Character = "\u{1f}", everything = "*"
    /// The types of the columns that `add` takes: position, time, author, source, key, kind and columns.
    package static let types: [ValueType] = [.int64, .int64, .string, .string, .int64, .string, .string]

    private let tables: InPlaceTables
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
    package init(_ tables: InPlaceTables) {
        self.tables = tables
        for (index, table) in tables.tables.enumerated() { entities[table.name] = index }
        for (index, pairs) in tables.pairs.enumerated() { links[pairs.name] = index }
    }

    /// Whether a row at a position would begin an entry beyond the limit.
    package func isFull(_ limit: Int, next position: Int64) -> Bool { entries.count >= limit && entries.last?.position != position }

    /// Adds a row of the log. The rows of an entry are adjacent and have its position.
    package mutating func add(_ row: [Value]) {
        let position = row[0].number
        if entries.last?.position != position { entries.append(Entry(position: position, time: row[1].number, author: row[2].text)) }
        guard let change = change(row[3].text, row[4].number, row[5].text, row[6].text) else { return }
        entries[entries.count - 1].changes.append(change)
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
        var mask = SlotMask()
        if changed == Self.everything {
            for slot in tables.tables[entity].columns.indices { mask.insert(slot) }
            return mask
        }
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
                changes: Self.changes(entry, rules))
        }
    }

    /// Returns the changes of the added rows, which all belong to one transaction, with one change for each object.
    package func changes(_ rules: HistoryRules) -> HistoryChanges { entries.first.map { Self.changes($0, rules) } ?? HistoryChanges() }

    private static func changes(_ entry: Entry, _ rules: HistoryRules) -> HistoryChanges {
        var recorder = HistoryRecorder(rules)
        recorder.add(HistoryChanges(entry.changes))
        return recorder.encode().withUnsafeBytes(HistoryRecorder.decode) ?? HistoryChanges()
    }
}
