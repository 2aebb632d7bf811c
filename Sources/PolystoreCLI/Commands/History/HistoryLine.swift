internal import Foundation
internal import PolystoreStorage
internal import PolystoreTransfer

/// Formats a transaction of the history as one line.
struct HistoryLine {
    private let schema: Schema

    init(_ schema: Schema) { self.schema = schema }

    /// Returns the token, the time, the author, and the numbers of changes by entity. To-many relationships whose members changed are counted
    /// apart: an object that only gained a member was not updated, and its version is the same.
    func text(_ entry: HistoryEntry) -> String {
        var counts: [(entity: String, inserted: Int, updated: Int, deleted: Int, relinked: Int)] = []
        for run in entry.changes.keyRuns {
            guard let name = name(run.entity) else { continue }
            let index = counts.firstIndex { $0.entity == name } ?? counts.endIndex
            if index == counts.endIndex { counts.append((name, 0, 0, 0, 0)) }
            switch run.kind {
            case .insert: counts[index].inserted += run.keys.count
            case .update: counts[index].updated += run.keys.count
            case .links: counts[index].relinked += run.keys.count
            case .delete: counts[index].deleted += run.keys.count
            }
        }
        let changes = counts.map { count in
            "\(count.entity) +\(count.inserted) ~\(count.updated) -\(count.deleted)\(count.relinked == 0 ? "" : " links \(count.relinked)")"
        }.joined(separator: ", ")
        let author = entry.author.isEmpty ? "-" : JSONWriter.quoted(entry.author)
        return "\(entry.token)  \(ISO8601.string(entry.time))  \(author)  \(changes)"
    }

    /// Returns the complete transaction as a JSON object.
    func json(_ entry: HistoryEntry) -> String {
        JSONText.object([
            ("token", JSONText.string(entry.token.description)), ("time", JSONText.string(ISO8601.string(entry.time))),
            ("author", JSONText.string(entry.author)), ("changes", JSONText.array(changes(entry))),
        ])
    }

    private func changes(_ entry: HistoryEntry) -> [String] {
        var position = 0
        return entry.changes.keyRuns.flatMap { run -> [String] in
            let start = position
            position += run.keys.count
            guard let entity = name(run.entity) else { return [] }
            func line(_ keys: ClosedRange<Int64>, _ change: String, _ more: [(name: String, value: String)] = []) -> String {
                JSONText.object(
                    [
                        ("entity", JSONText.string(entity)), ("keys", "[\(keys.lowerBound),\(keys.upperBound)]"),
                        ("change", JSONText.string(change)),
                    ] + more)
            }
            let slots = schema[run.entity].slots
            switch run.kind {
            case .insert: return [line(run.keys, "insert")]
            case .update(let mask):
                let names = mask.slots.filter(slots.indices.contains).map { slots[$0].name }
                return [line(run.keys, "update", [("properties", JSONText.strings(names))])]
            case .links(let link):
                guard schema.links.indices.contains(link) else { return [] }
                return [line(run.keys, "links", [("relationship", JSONText.string(schema.links[link].ownerRelationship))])]
            case .delete:
                if entry.changes[start].tombstone.isEmpty { return [line(run.keys, "delete")] }
                return run.keys.enumerated().map { index, key in
                    line(key...key, "delete", [("values", values(entry.changes[start + index].tombstone, slots))])
                }
            }
        }
    }

    private func values(_ tombstone: [Int: Value], _ slots: [Slot]) -> String {
        JSONText.object(
            tombstone.sorted { $0.key < $1.key }.filter { slots.indices.contains($0.key) }.map { slot, value in
                (slots[slot].name, JSONWriter.write(ValueText.json(value)))
            })
    }

    private func name(_ entity: EntityIndex) -> String? { schema.descriptions.indices.contains(entity) ? schema[entity].name : nil }
}
