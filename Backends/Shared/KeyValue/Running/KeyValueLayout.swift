internal import PolystoreStorage

/// The maps of a schema: the store's own maps, then one map for the rows of each hierarchy, one for each index, and two for each link.
struct KeyValueLayout: Sendable {
    /// An index over slots of an entity's family.
    struct IndexMap: Sendable {
        /// The default name of the map; the store may have assigned another one.
        let name: String
        let map: Int
        /// The entity that declares the index. The index covers the entity's family.
        let entity: EntityIndex
        let slots: [Int]
        /// The unique constraint that the index enforces, or nil for a plain index.
        let constraint: ResolvedConstraint?
        /// Whether this is a full-text index, which has one entry for each word instead of one for the values.
        var isWords = false
    }

    static let metadata = 0, counters = 1, history = 2, notes = 3
    static let ownMaps = ["polystore_metadata", "polystore_counters", "polystore_history", "polystore_notes"]

    /// The counter of quiet commits in the counters map. Names of entities never begin with this prefix.
    static let quietCounter = "polystore_quiet"

    let schema: Schema
    let names: [String]
    let entityNumbers: [Int16]
    /// The map that contains the rows of each entity.
    let rows: [Int]
    /// The indexes that cover each entity.
    let indexes: [[IndexMap]]
    let allIndexes: [IndexMap]
    /// The full-text indexes that cover each entity.
    let wordIndexes: [[IndexMap]]
    /// The indexes that a change of an entity's rows affects: ordered and full-text.
    let keptIndexes: [[IndexMap]]
    /// The maps of each link: by owner and by member.
    let links: [(owner: Int, member: Int)]
    /// The entity of each entity number.
    let entities: [EntityIndex?]
    let kinds: [[CellKind]]

    /// Creates the layout of a store.
    ///
    /// - Parameter numbers: The engine's number of each map by its name. Without them, maps are numbered in the order of `names`.
    init(_ metadata: StoreMetadata, numbers: [String: Int] = [:]) {
        let schema = metadata.schema
        var names = Self.ownMaps
        func map(_ name: String) -> Int {
            let place = metadata.mapNames[name] ?? name
            names.append(place)
            return numbers[place] ?? names.count - 1
        }
        var rowMaps: [EntityIndex: Int] = [:]
        for root in schema.roots { rowMaps[root] = map(schema.entities[root].name) }
        var all: [IndexMap] = [], words: [IndexMap] = [], seen: Set<String> = []
        for description in schema.descriptions {
            var lists: [([Int], ResolvedConstraint?)] = description.slots.indices
                .filter { description.slots[$0].declaredIn == description.index && description.slots[$0].destination != nil }
                .map { ([$0], nil) }
            let declared = schema.entities[description.index].indexes
            // A partial index contains all rows: evaluating its condition on each change would cost more than the entries that it saves.
            lists += declared.filter { $0.kind == .ordered }.map { ($0.properties.compactMap(description.slot), nil) }
            lists += description.uniqueConstraints.filter { $0.declaredIn == description.index }.map { ($0.slots, $0) }
            for (slots, constraint) in lists {
                let properties = slots.map { description.slots[$0].name }.joined(separator: ".")
                let name = "\(description.name).\(constraint == nil ? "index" : "unique").\(properties)"
                if seen.insert(name).inserted {
                    all.append(IndexMap(name: name, map: map(name), entity: description.index, slots: slots, constraint: constraint))
                }
            }
            for index in declared where index.kind == .fullText {
                let name = "\(description.name).fullText.\(index.properties.joined(separator: "."))"
                guard seen.insert(name).inserted else { continue }
                let slots = index.properties.compactMap(description.slot)
                words.append(IndexMap(name: name, map: map(name), entity: description.index, slots: slots, constraint: nil, isWords: true))
            }
        }
        links = schema.links.map { (map($0.name), map($0.name + ".member")) }
        var entities = [EntityIndex?](repeating: nil, count: Int(metadata.entityNumbers.max() ?? 0) + 1)
        for (index, number) in metadata.entityNumbers.enumerated() { entities[Int(number)] = index }
        self.entities = entities
        self.schema = schema
        self.names = names
        entityNumbers = metadata.entityNumbers
        rows = schema.descriptions.map { rowMaps[$0.root] ?? 0 }
        allIndexes = all
        func covering(_ list: [IndexMap]) -> [[IndexMap]] {
            schema.descriptions.map { description in list.filter { schema[$0.entity].family.contains(description.index) } }
        }
        indexes = covering(all)
        wordIndexes = covering(words)
        keptIndexes = covering(all + words)
        kinds = schema.descriptions.map { $0.slots.map(\.cellKind) }
    }

    /// Returns the name of the hierarchy whose rows a map contains, or else of the index.
    func name(of map: Int) -> String {
        if let root = schema.roots.first(where: { rows[$0] == map }) { return schema.entities[root].name }
        return (allIndexes + wordIndexes.joined()).first { $0.map == map }?.name ?? "a map"
    }
}
