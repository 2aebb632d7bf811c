internal import PolystoreStorage

/// The entities in the order of lists: hierarchies by name, and in each the parents before their children.
enum EntityTree {
    static func items(_ schema: Schema) -> [(entity: EntityIndex, level: Int)] {
        var children: [EntityIndex: [EntityIndex]] = [:]
        for entity in schema.descriptions { if let parent = entity.parent { children[parent, default: []].append(entity.index) } }
        func names(_ a: EntityIndex, _ b: EntityIndex) -> Bool {
            let (first, second) = (schema[a].name, schema[b].name)
            return (first.lowercased(), first) < (second.lowercased(), second)
        }
        var items: [(entity: EntityIndex, level: Int)] = [], waiting = schema.roots.sorted(by: names).reversed().map { ($0, 0) }
        while let (entity, level) = waiting.popLast() {
            items.append((entity, level))
            waiting += (children[entity] ?? []).sorted(by: names).reversed().map { ($0, level + 1) }
        }
        return items
    }
}
