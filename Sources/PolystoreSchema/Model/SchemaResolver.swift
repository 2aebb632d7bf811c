/// Checks the declarations of a schema and derives layouts, columns, relationships and link tables from them.
struct SchemaResolver {
    let version: String
    let configurations: [String: [String]]
    private let declared: [Entity]

    init(version: String, entities: [Entity], configurations: [String: [String]]) {
        self.version = version
        self.configurations = configurations
        declared = Self.completed(entities)
    }

    /// The entities with each inverse on both sides: it is enough to declare it on one.
    private static func completed(_ entities: [Entity]) -> [Entity] {
        var result = entities
        let places = Dictionary(entities.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        for entity in entities {
            for relationship in entity.relationships {
                guard let inverse = relationship.inverse else { continue }
                var name: String? = relationship.destination
                // The other side may be declared by a parent of the destination; a loop of parents is refused elsewhere.
                for _ in entities {
                    guard let index = name.flatMap({ places[$0] }) else { break }
                    if let other = result[index].relationships.firstIndex(where: { $0.name == inverse }) {
                        if result[index].relationships[other].inverse == nil {
                            result[index].relationships[other].inverse = relationship.name
                        }
                        break
                    }
                    name = result[index].parent
                }
            }
        }
        return result
    }

    func resolve() throws(SchemaError) -> Schema.Storage {
        let entities = try ordered()
        let names = Dictionary(uniqueKeysWithValues: entities.enumerated().map { ($1.name, $0) })
        try SchemaRules(entities: entities, names: names, configurations: configurations).check()
        let parents = entities.map { $0.parent.flatMap { names[$0] } }
        let roots = entities.indices.map { Self.root(of: $0, parents) }
        let families = entities.indices.map { index in entities.indices.filter { Self.isAncestor(index, of: $0, parents) } }
        let columns = Self.columns(entities, roots)
        let slots = Self.slots(entities, names, parents, columns)
        let links = Self.links(entities, names)
        let relationships = Self.relationships(entities, names, parents, slots, links)

        let descriptions = entities.indices.map { (index: EntityIndex) -> EntityDescription in
            let declared = Self.lineage(index, parents).flatMap { entities[$0].indexes }
            func positions(_ kind: Index.Kind) -> [[Int]] {
                declared.filter { $0.kind == kind }.map { $0.properties.compactMap { Self.position($0, slots[index]) } }
            }
            return EntityDescription(
                index: index, name: entities[index].name, isAbstract: entities[index].isAbstract, root: roots[index],
                parent: parents[index], family: families[index], slots: slots[index], relationships: relationships[index],
                columns: roots[index] == index ? columns[index]?.list ?? [] : [],
                indexes: positions(.ordered), fullTextSlots: positions(.fullText).flatMap { $0 },
                uniqueConstraints: Self.lineage(index, parents).flatMap { ancestor in
                    entities[ancestor].uniqueConstraints.map { constraint in
                        ResolvedConstraint(
                            declaredIn: ancestor, slots: constraint.properties.compactMap { Self.position($0, slots[index]) },
                            name: "\(entities[ancestor].name)(\(constraint.properties.joined(separator: ",")))")
                    }
                },
                slotByName: Dictionary(uniqueKeysWithValues: slots[index].enumerated().map { ($1.name, $0) }),
                relationshipByName: Dictionary(
                    uniqueKeysWithValues: relationships[index].enumerated().map { ($1.relationship.name, $0) }),
                isHierarchy: families[roots[index]].count > 1)
        }
        let text = SchemaText.canonical(entities: entities)
        return Schema.Storage(
            version: version, entities: entities, configurations: configurations, indexByName: names, hierarchies: descriptions,
            links: links, hash: SchemaHash(of: text))
    }

    /// Parents before children, otherwise by name.
    private func ordered() throws(SchemaError) -> [Entity] {
        var seen: Set<String> = []
        for entity in declared where !seen.insert(entity.name).inserted {
            throw SchemaError(entity.name, "two entities have this name; each entity needs a name of its own")
        }
        var result: [Entity] = [], placed: Set<String> = []
        var waiting = declared.sorted { $0.name.compareUTF8(to: $1.name) < 0 }
        while !waiting.isEmpty {
            guard let next = waiting.firstIndex(where: { $0.parent.map(placed.contains) ?? true }) else {
                let entity = waiting[0]
                let parent = entity.parent ?? ""
                let message =
                    seen.contains(parent)
                    ? "its parents form a loop"
                    : "its parent \"\(parent)\" is not an entity of the schema\(Suggestion.nearest(parent, in: seen))"
                throw SchemaError(entity.name, message)
            }
            placed.insert(waiting[next].name)
            result.append(waiting.remove(at: next))
        }
        return result
    }

    private static func root(of index: Int, _ parents: [Int?]) -> Int {
        var index = index
        while let parent = parents[index] { index = parent }
        return index
    }

    private static func isAncestor(_ ancestor: Int, of index: Int, _ parents: [Int?]) -> Bool {
        var current: Int? = index
        while let here = current {
            if here == ancestor { return true }
            current = parents[here]
        }
        return false
    }

    /// The entity and its parents, topmost first.
    private static func lineage(_ index: Int, _ parents: [Int?]) -> [Int] {
        var result = [index]
        while let parent = parents[result[0]] { result.insert(parent, at: 0) }
        return result
    }

    private static func position(_ name: String, _ slots: [Slot]) -> Int? { slots.firstIndex { $0.name == name } }

    struct Columns {
        var list: [Column] = []
        /// Entity and property name to position.
        var positions: [[String]: Int] = [:]
    }

    /// The columns of each root, parents before children; a name that siblings share is qualified in all but the first.
    private static func columns(_ entities: [Entity], _ roots: [Int]) -> [Int: Columns] {
        var result: [Int: Columns] = [:]
        for index in entities.indices {
            var columns = result[roots[index]] ?? Columns()
            var taken = Set(columns.list.map(\.name))
            func add(_ name: String, _ type: ValueType, isReference: Bool) {
                let unique = taken.insert(name).inserted ? name : "\(entities[index].name).\(name)"
                columns.positions[[entities[index].name, name]] = columns.list.count
                columns.list.append(Column(name: unique, type: type, isReference: isReference))
            }
            for attribute in entities[index].attributes { add(attribute.name, attribute.type, isReference: false) }
            for relationship in entities[index].relationships where relationship.cardinality == .toOne {
                add(relationship.name, .int64, isReference: true)
            }
            result[roots[index]] = columns
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

    /// One table for each pair of to-many relationships, each to-many without an inverse and each ordered to-many.
    private static func links(_ entities: [Entity], _ names: [String: Int]) -> [LinkDescription] {
        var result: [LinkDescription] = []
        for (index, entity) in entities.enumerated() {
            for relationship in entity.relationships where relationship.cardinality != .toOne {
                guard let destination = names[relationship.destination] else { continue }
                let inverse = relationship.inverse.flatMap { name in inherited(name, destination, entities, names) }
                if let inverse {
                    let ordered = relationship.cardinality == .toManyOrdered
                    if inverse.relationship.cardinality == .toOne, !ordered { continue }
                    // Of two to-many ends the ordered one owns the table, otherwise the one that comes first in the canonical order.
                    if inverse.relationship.cardinality == .toManyOrdered { continue }
                    let isFirst = (index, relationship.name) <= (inverse.owner, inverse.relationship.name)
                    if inverse.relationship.cardinality == .toMany, !ordered, !isFirst { continue }
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

    /// A relationship of an entity or one of its parents, with the entity that declares it.
    private static func inherited(
        _ name: String, _ index: Int, _ entities: [Entity], _ names: [String: Int]
    ) -> (owner: Int, relationship: Relationship)? {
        var current: Int? = index
        while let here = current {
            if let found = entities[here].relationships.first(where: { $0.name == name }) { return (here, found) }
            current = entities[here].parent.flatMap { names[$0] }
        }
        return nil
    }

    private static func relationships(
        _ entities: [Entity], _ names: [String: Int], _ parents: [Int?], _ slots: [[Slot]], _ links: [LinkDescription]
    ) -> [[RelationshipDescription]] {
        func place(_ relationship: Relationship, _ owner: Int, _ destination: Int, _ index: Int) -> RelationshipDescription.Place {
            if relationship.cardinality == .toOne { return .slot(position(relationship.name, slots[index]) ?? 0) }
            let owned = links.firstIndex { $0.owner == owner && $0.ownerRelationship == relationship.name }
            let inverse = relationship.inverse.flatMap { position($0, slots[destination]) }
            switch (owned, inverse) {
            case (let link?, let slot?): return .orderedInverseSlot(slot, link: link)
            case (let link?, nil): return .link(link, side: .owner)
            case (nil, let slot?): return .inverseSlot(slot)
            case (nil, nil):
                let link =
                    links.firstIndex { link in
                        link.memberRelationship == relationship.name && link.ownerRelationship == relationship.inverse
                            && lineage(link.member, parents).contains(owner)
                    } ?? 0
                return .link(link, side: .member)
            }
        }
        return entities.indices.map { index in
            lineage(index, parents).flatMap { owner in
                entities[owner].relationships.map { relationship in
                    let destination = names[relationship.destination] ?? 0
                    return RelationshipDescription(
                        relationship: relationship, destination: destination,
                        place: place(relationship, owner, destination, index), declaredIn: owner)
                }
            }
        }
    }
}
