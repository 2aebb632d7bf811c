internal import PolystoreStorage

/// Transactions of the history as parts of a page.
struct HistoryMarkup {
    private let schema: Schema
    private static let shownKeys = 12

    init(_ schema: Schema) { self.schema = schema }

    /// Returns a transaction as an item of a list.
    func item(_ entry: HistoryEntry) -> HTML {
        let time = ISO8601.string(entry.time)
        let author: HTML = entry.author.isEmpty ? #"<span class="soft">no author</span>"# : #"<b class="author">\#(entry.author)</b>"#
        return """
            <li id="t\(entry.token.position)"><div class="when"><time datetime="\(time)" title="\(time)">\
            \(Value.date(entry.time - (entry.time % 1_000_000)).plainText)</time>\
            <span class="position" title="the position in the history">\(entry.token.position)</span></div>\
            <div class="what">\(author)\(changes(entry))</div></li>

            """
    }

    /// The changes of one kind to objects of one entity.
    private struct Group {
        let entity: EntityIndex
        let kind: Kind
        var count = 0
        var keys: [Int64] = []
        var properties: Set<String> = []
        var tombstones: [Int64: [Int: Value]] = [:]
    }

    private enum Kind: String {
        case insert, update, delete, links

        init(_ kind: HistoryChange.Kind) {
            switch kind {
            case .insert: self = .insert
            case .update: self = .update
            case .delete: self = .delete
            case .links: self = .links
            }
        }

        var text: String {
            switch self {
            case .insert: "inserted"
            case .update: "updated"
            case .delete: "deleted"
            case .links: "linked"
            }
        }
    }

    private func groups(_ entry: HistoryEntry) -> [Group] {
        var groups: [Group] = [], start = 0
        for run in entry.changes.keyRuns {
            let first = start, kind = Kind(run.kind)
            start += run.keys.count
            guard schema.descriptions.indices.contains(run.entity) else { continue }
            let index = groups.firstIndex { $0.entity == run.entity && $0.kind == kind } ?? groups.endIndex
            if index == groups.endIndex { groups.append(Group(entity: run.entity, kind: kind)) }
            groups[index].count += run.keys.count
            groups[index].properties.formUnion(properties(run.entity, run.kind))
            for (offset, key) in run.keys.prefix(max(0, Self.shownKeys - groups[index].keys.count)).enumerated() {
                groups[index].keys.append(key)
                if kind == .delete { groups[index].tombstones[key] = entry.changes[first + offset].tombstone }
            }
        }
        return groups
    }

    private func properties(_ entity: EntityIndex, _ kind: HistoryChange.Kind) -> [String] {
        let slots = schema[entity].slots
        switch kind {
        case .update(let mask): return mask.slots.filter(slots.indices.contains).map { slots[$0].name }
        case .links(let link): return schema.links.indices.contains(link) ? [schema.links[link].ownerRelationship] : []
        case .insert, .delete: return []
        }
    }

    private func changes(_ entry: HistoryEntry) -> HTML {
        let groups = groups(entry)
        if groups.isEmpty { return #"<p class="soft">no changes of objects</p>"# }
        return #"<ul class="changes">\#(groups.map(change))</ul>"#
    }

    private func change(_ group: Group) -> HTML {
        let name = schema[group.entity].name, properties = group.properties.sorted()
        let shown = properties.prefix(8).joined(separator: ", ") + (properties.count > 8 ? ", …" : "")
        let names: HTML = properties.isEmpty ? .nothing : #"<span class="soft names">\#(shown)</span>"#
        let rest: HTML =
            group.count > group.keys.count
            ? #"<span class="soft">and \#(Figures.grouped(group.count - group.keys.count)) more</span>"# : .nothing
        let keys = group.keys.map { key -> HTML in
            if group.kind == .delete { return deleted(key, group) }
            return #"<a href="\#(Address.object(name, key))">\#(key)</a> "#
        }
        return """
            <li><span class="kind \(group.kind.rawValue)">\(group.kind.text)</span> <a class="entity" href="\(Address.table(name))">\(name)</a> \
            <span class="soft">\(Figures.counted(group.count, "object"))</span> <span class="keys">\(keys)\(rest)</span>\(names)</li>
            """
    }

    /// Returns the key of a deleted object with the values that the history preserves.
    private func deleted(_ key: Int64, _ group: Group) -> HTML {
        let slots = schema[group.entity].slots
        let values = (group.tombstones[key] ?? [:]).sorted { $0.key < $1.key }.filter { slots.indices.contains($0.key) }.map {
            slot, value in
            "\(slots[slot].name): \(value.isNull ? "nil" : value.plainText)".excerpt(StoreReading.longestLabel)
        }
        let title: HTML = values.isEmpty ? .nothing : #" title="\#(values.joined(separator: "\n"))""#
        let first: HTML = values.isEmpty ? .nothing : #" <span class="soft">\#(values.prefix(2).joined(separator: ", "))</span>"#
        return #"<span class="gone"\#(title)>\#(key)</span>\#(first) "#
    }
}
