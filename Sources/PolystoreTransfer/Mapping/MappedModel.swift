package import PolystoreStorage

/// The model of a source under a mapping, and the positions of its parts in the source.
///
/// A new name can give entities and link tables another order, and can exchange the owner and the member of a link table. The slots and
/// relationships of an entity are in the order of their declarations, which a mapping keeps.
package struct MappedModel: Sendable {
    /// A link table of the source.
    struct Link: Sendable {
        let index: Int
        /// Whether its owners are the members in the mapped model.
        let isFlipped: Bool

        /// Returns pairs of the source in the form of the mapped model.
        func pairs(_ pairs: UnsafeBufferPointer<LinkPair>) -> [LinkPair] {
            isFlipped ? pairs.map { LinkPair(owner: $0.member, rank: $0.rank, member: $0.owner) } : Array(pairs)
        }
    }

    /// An attribute for which a mapping has a type.
    package struct ChangedAttribute: Sendable {
        /// The path of the attribute in the source.
        package let path: String
        /// The type in the source, as the model names it, with `?` if the attribute is optional.
        package let type: String
        /// The type in the target.
        package let newType: String

        init(_ path: String, _ old: Attribute?, _ new: TransferMapping.AttributeType) {
            let isOptional = old?.isOptional == true
            self.path = path
            type = (old?.type.rawValue ?? "") + (isOptional ? "?" : "")
            newType = new.type.rawValue + (isOptional || new.becomesOptional ? "?" : "")
        }
    }

    /// The model of the source.
    let source: Schema
    /// The mapped model.
    package let schema: Schema
    /// The entity of the mapped model, by entity of the source.
    let entities: [EntityIndex]
    /// The entity of the source, by entity of the mapped model.
    let origins: [EntityIndex]
    /// The link table of the source, by link table of the mapped model.
    let links: [Link]
    /// The conversions of the values of a row, by entity of the source.
    let conversions: [[SlotConversion]]
    /// The attributes for which the mapping has a type.
    package let changedAttributes: [ChangedAttribute]
    /// The declarations with another name, as paths in the source and in the target.
    package let renames: [(path: String, newPath: String)]

    /// Applies a mapping to the model of a source.
    ///
    /// - Throws: `invalidConfiguration` if the mapping does not fit the model.
    package init(_ mapping: TransferMapping, of source: Schema) throws(StorageError) {
        let schema = try MappedDeclarations(mapping, of: source).schema()
        var entities: [EntityIndex] = []
        for entity in source.entities {
            // A mapping names each entity once, so that its new name is found.
            entities.append(schema.index(of: mapping.renames[entity.name] ?? entity.name) ?? 0)
        }
        var origins = entities
        for (origin, entity) in entities.enumerated() { origins[entity] = origin }
        self.source = source
        self.schema = schema
        self.entities = entities
        self.origins = origins
        links = schema.links.map { Self.origin(of: $0, schema, source, origins) }
        let roots = Dictionary(uniqueKeysWithValues: source.roots.map { (source.entities[$0].name, schema.entities[entities[$0]].name) })
            .filter { $0 != $1 }
        conversions = source.descriptions.map { before in
            let after = schema[entities[before.index]]
            return before.slots.indices.compactMap { SlotConversion($0, from: before, to: after, source, roots) }
        }
        changedAttributes = mapping.types.sorted { $0.key < $1.key }.map { path, type in
            let parts = path.split(separator: ".", maxSplits: 1).map(String.init), entity = source.entities.first { $0.name == parts[0] }
            return ChangedAttribute(path, entity?.attributes.first { $0.name == parts.last }, type)
        }
        renames = mapping.renames.sorted { $0.key < $1.key }.map { path, name in
            let parts = path.split(separator: ".", maxSplits: 1).map(String.init)
            return (path, parts.count == 1 ? name : "\(mapping.renames[parts[0]] ?? parts[0]).\(name)")
        }
    }

    private static func origin(of link: LinkDescription, _ schema: Schema, _ source: Schema, _ origins: [EntityIndex]) -> Link {
        let position = schema[link.owner].relationshipIndex(link.ownerRelationship) ?? 0
        switch source[origins[link.owner]].relationships[position].place {
        case .link(let index, let side): return Link(index: index, isFlipped: side == .member)
        case .orderedInverseSlot(_, let index): return Link(index: index, isFlipped: false)
        // A mapping changes no kind of relationship, so a link table has a link table as its origin.
        case .slot, .inverseSlot: return Link(index: 0, isFlipped: false)
        }
    }

    /// Whether rows have to be converted.
    var changesRows: Bool { conversions.contains { !$0.isEmpty } || entities != Array(entities.indices) }

    /// Whether values may have no exact equivalent.
    var castsValues: Bool { conversions.contains { $0.contains(where: \.isCast) } }
}
