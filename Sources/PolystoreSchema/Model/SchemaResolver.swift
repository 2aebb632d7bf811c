/// Checks the declarations of a schema and derives layouts, columns, relationships and link tables from them.
struct SchemaResolver {
    let version: String
    let configurations: [String: [String]]
    private let declared: [Entity]

    init(version: String, entities: [Entity], configurations: [String: [String]]) {
        self.version = version
        self.configurations = configurations
        declared = entities
    }

    /// Returns the entities with each inverse declared on both sides. It is sufficient to declare it on one side.
    private static func completed(_ entities: [Entity], _ properties: InheritedRelationships) -> [Entity] {
        var result = entities
        for relationship in entities.flatMap(\.relationships) {
            // A parent of the destination may declare the inverse.
            guard let name = relationship.inverse, let other = properties.find(name, from: relationship.destination) else { continue }
            if result[other.owner].relationships[other.position].inverse == nil {
                result[other.owner].relationships[other.position].inverse = relationship.name
            }
        }
        return result
    }

    func resolve() throws(SchemaError) -> Schema.Storage {
        let ordered = try ordered()
        try SchemaLimits(entities: ordered, configurations: configurations).check()
        let inherited = InheritedRelationships(ordered), names = inherited.names, parents = inherited.parents
        let entities = Self.completed(ordered, inherited)
        try SchemaRules(entities: entities, inherited: inherited, configurations: configurations).check()
        let roots = entities.indices.map { Self.root(of: $0, parents) }
        let families = Self.families(parents)
        let columns = Self.columns(entities, roots)
        let slots = Self.slots(entities, names, parents, columns)
        let positions = slots.map { Dictionary(uniqueKeysWithValues: $0.enumerated().map { ($1.name, $0) }) }
        let links = Self.links(entities, inherited)
        let relationships = Self.relationships(entities, inherited, positions, links)

        let descriptions = entities.indices.map { (index: EntityIndex) -> EntityDescription in
            let declared = Self.lineage(index, parents).flatMap { entities[$0].indexes }
            func indexed(_ kind: Index.Kind) -> [[Int]] {
                declared.filter { $0.kind == kind }.map { $0.properties.compactMap { positions[index][$0] } }
            }
            return EntityDescription(
                index: index, name: entities[index].name, isAbstract: entities[index].isAbstract, root: roots[index],
                parent: parents[index], family: families[index], slots: slots[index], relationships: relationships[index],
                columns: roots[index] == index ? columns[index]?.list ?? [] : [],
                indexes: indexed(.ordered), fullTextSlots: indexed(.fullText).flatMap { $0 },
                uniqueConstraints: Self.lineage(index, parents).flatMap { ancestor in
                    entities[ancestor].uniqueConstraints.map { constraint in
                        ResolvedConstraint(
                            declaredIn: ancestor, slots: constraint.properties.compactMap { positions[index][$0] },
                            name: "\(entities[ancestor].name)(\(constraint.properties.joined(separator: ",")))")
                    }
                },
                slotByName: positions[index],
                relationshipByName: Dictionary(
                    uniqueKeysWithValues: relationships[index].enumerated().map { ($1.relationship.name, $0) }),
                isHierarchy: families[roots[index]].count > 1)
        }
        let text = SchemaText.canonical(entities: entities)
        return Schema.Storage(
            version: version, entities: entities, configurations: configurations, indexByName: names, hierarchies: descriptions,
            links: links, hash: SchemaHash(of: text))
    }

    /// Returns the entities in canonical order: parents before children, otherwise by name.
    private func ordered() throws(SchemaError) -> [Entity] {
        var seen: Set<String> = []
        for entity in declared where !seen.insert(entity.name).inserted {
            throw SchemaError(entity.name, "two entities have this name; entity names must be unique")
        }
        let sorted = declared.sorted { $0.name.compareUTF8(to: $1.name) < 0 }
        let children = Dictionary(grouping: sorted.indices.filter { sorted[$0].parent != nil }) { sorted[$0].parent ?? "" }
        var result: [Entity] = [], placed: Set<Int> = []
        // The entities whose parents are already placed, in descending order by name.
        var ready = Array(sorted.indices.filter { sorted[$0].parent == nil }.reversed())
        while let next = ready.popLast() {
            placed.insert(next)
            result.append(sorted[next])
            for child in children[sorted[next].name] ?? [] {
                ready.insert(child, at: ready.partitionIndex { $0 < child })
            }
        }
        guard let lost = sorted.indices.first(where: { !placed.contains($0) }) else { return result }
        let parent = sorted[lost].parent ?? ""
        let message =
            seen.contains(parent)
            ? "its ancestors form a cycle"
            : "the schema has no entity \"\(parent.excerpt())\", which is its parent\(Suggestion.nearest(parent, in: seen))"
        throw SchemaError(sorted[lost].name, message)
    }

    private static func root(of index: Int, _ parents: [Int?]) -> Int {
        var index = index
        while let parent = parents[index] { index = parent }
        return index
    }

    /// Returns, for each entity, the entity itself and all its subentities.
    private static func families(_ parents: [Int?]) -> [[Int]] {
        var result = [[Int]](repeating: [], count: parents.count)
        for index in parents.indices {
            for ancestor in lineage(index, parents) { result[ancestor].append(index) }
        }
        return result
    }

    /// Returns the entity and its ancestors, topmost first.
    private static func lineage(_ index: Int, _ parents: [Int?]) -> [Int] {
        var result = [index]
        while let parent = parents[result[0]] { result.insert(parent, at: 0) }
        return result
    }

    struct Columns {
        var list: [Column] = []
        /// The position of a column, by entity and property name.
        var positions: [[String]: Int] = [:]
        private var names: Set<String> = []

        /// Adds the column of a property. Its name is qualified if another one has it.
        mutating func add(_ property: String, of entity: String, _ type: ValueType, isReference: Bool) {
            let name = names.insert(property).inserted ? property : "\(entity).\(property)"
            names.insert(name)
            positions[[entity, property]] = list.count
            list.append(Column(name: name, type: type, isReference: isReference))
        }
    }

    /// Returns the columns of each root, parents before children. If siblings share a name, it is qualified in all of them except the
    /// first.
    private static func columns(_ entities: [Entity], _ roots: [Int]) -> [Int: Columns] {
        var result: [Int: Columns] = [:]
        for index in entities.indices {
            let entity = entities[index]
            for attribute in entity.attributes {
                result[roots[index], default: Columns()].add(attribute.name, of: entity.name, attribute.type, isReference: false)
            }
            for relationship in entity.relationships where relationship.cardinality == .toOne {
                result[roots[index], default: Columns()].add(relationship.name, of: entity.name, .int64, isReference: true)
            }
        }
        return result
    }

    private static func slots(_ entities: [Entity], _ names: [String: Int], _ parents: [Int?], _ columns: [Int: Columns]) -> [[Slot]] {
        entities.indices.map { index in
            lineage(index, parents).flatMap { owner -> [Slot] in
                let positions = columns[root(of: owner, parents)]?.positions ?? [:]
                let attributes = entities[owner].attributes.map { attribute in
                    Slot(
                        name: attribute.name, content: .attribute(attribute),
                        column: positions[[entities[owner].name, attribute.name]] ?? 0, declaredIn: owner)
                }
                let references = entities[owner].relationships.filter { $0.cardinality == .toOne }.map { relationship in
                    Slot(
                        name: relationship.name,
                        content: .toOne(relationship, destination: names[relationship.destination] ?? 0),
                        column: positions[[entities[owner].name, relationship.name]] ?? 0, declaredIn: owner)
                }
                return attributes + references
            }
        }
    }

    /// Returns the link tables: one for each pair of to-many relationships, for each to-many relationship without an inverse, and for each
    /// ordered to-many relationship.
    private static func links(_ entities: [Entity], _ inherited: InheritedRelationships) -> [LinkDescription] {
        var result: [LinkDescription] = []
        for (index, entity) in entities.enumerated() {
            for relationship in entity.relationships where relationship.cardinality != .toOne {
                guard let destination = inherited.names[relationship.destination] else { continue }
                if let found = relationship.inverse.flatMap({ inherited.find($0, from: relationship.destination) }) {
                    let inverse = entities[found.owner].relationships[found.position]
                    let ordered = relationship.cardinality == .toManyOrdered
                    if inverse.cardinality == .toOne, !ordered { continue }
                    // If both ends are to-many, the ordered one owns the table, otherwise the one that comes first in the canonical order.
                    if inverse.cardinality == .toManyOrdered { continue }
                    let isFirst = (index, relationship.name) <= (found.owner, inverse.name)
                    if inverse.cardinality == .toMany, !ordered, !isFirst { continue }
                }
                result.append(
                    LinkDescription(
                        name: "\(entity.name).\(relationship.name)", owner: index, ownerRelationship: relationship.name,
                        member: destination, memberRelationship: relationship.inverse,
                        isOrdered: relationship.cardinality == .toManyOrdered))
            }
        }
        return result
    }

    private struct LinkKey: Hashable {
        let owner: Int
        let relationship: String?
    }

    private static func relationships(
        _ entities: [Entity], _ inherited: InheritedRelationships, _ slots: [[String: Int]], _ links: [LinkDescription]
    ) -> [[RelationshipDescription]] {
        let owned = Dictionary(
            uniqueKeysWithValues: links.enumerated().map { (LinkKey(owner: $1.owner, relationship: $1.ownerRelationship), $0) })
        func place(_ relationship: Relationship, _ owner: Int, _ destination: Int, _ index: Int) -> RelationshipDescription.Place {
            if relationship.cardinality == .toOne { return .slot(slots[index][relationship.name] ?? 0) }
            let inverse = relationship.inverse.flatMap { slots[destination][$0] }
            switch (owned[LinkKey(owner: owner, relationship: relationship.name)], inverse) {
            case (let link?, let slot?): return .orderedInverseSlot(slot, link: link)
            case (let link?, nil): return .link(link, side: .owner)
            case (nil, let slot?): return .inverseSlot(slot)
            case (nil, nil):
                let other = relationship.inverse.flatMap { inherited.find($0, from: relationship.destination) }
                let link = other.flatMap { owned[LinkKey(owner: $0.owner, relationship: relationship.inverse)] }
                return .link(link ?? 0, side: .member)
            }
        }
        return entities.indices.map { index in
            lineage(index, inherited.parents).flatMap { owner in
                entities[owner].relationships.map { relationship in
                    let destination = inherited.names[relationship.destination] ?? 0
                    return RelationshipDescription(
                        relationship: relationship, destination: destination,
                        place: place(relationship, owner, destination, index), declaredIn: owner)
                }
            }
        }
    }
}

extension [Int] {
    /// Returns the first position from which a condition holds for all further elements.
    fileprivate func partitionIndex(_ isBehind: (Int) -> Bool) -> Int {
        var low = 0, high = count
        while low < high {
            let middle = (low + high) / 2
            if isBehind(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
