extension SchemaMapping {
    /// Determines the source of the pairs of each link table, and which references keep their destinations: not those to a hierarchy that
    /// contains none of the referenced objects. Call this method after a change of `entities`.
    public mutating func settle() {
        for (position, part) in entities.enumerated() {
            for (slot, description) in destination[part.destination].slots.enumerated() {
                guard let before = part.origins[slot], let new = description.destination,
                    let old = source[part.source].slots[before].destination
                else { continue }
                entities[position].slots[slot] = goesOver(old, new) ? .slot(before, ifNil: .null) : .value(.null)
            }
        }
        links = destination.links.map { pairs(of: $0) }
    }

    // MARK: Histories

    /// Returns the slot of the older version whose changes are changes of each slot of an entity of the newer version: the one with its
    /// values, or the one whose values are lost because all objects to which they refer are discarded.
    package func changedSlots(of part: EntityMapping) -> [Int?] {
        part.slots.indices.map { slot in
            if case .slot(let old, _) = part.slots[slot] { return old }
            guard let old = part.origins[slot], let other = source[part.source].slots[old].destination, isDiscarded(other) else {
                return nil
            }
            return old
        }
    }

    /// The link table of the older version whose changes are changes of each link table of the newer version: the one with its pairs, or
    /// the one whose pairs are lost because all members are discarded.
    package var changedLinks: [Int?] {
        let kept = links.map { if case .link(let old, false) = $0 { old } else { nil as Int? } }
        return destination.links.enumerated().map { index, link in
            if links[index] != .none { return kept[index] }
            guard case .link(let old, false) = pairs(of: link, areKept: false), !kept.contains(old),
                goesOver(source.links[old].owner, link.owner), isDiscarded(source.links[old].member)
            else { return nil }
            return old
        }
    }

    /// Whether no object of an old entity's hierarchy is mapped.
    private func isDiscarded(_ old: EntityIndex) -> Bool {
        !entities.contains { source[$0.source].root == source[old].root }
    }

    /// The new to-one relationships that are the inverse of an existing relationship.
    package var inverses: [InverseSource] {
        destination.entities.indices.flatMap { entity in
            destination[entity].slots.enumerated().compactMap { slot, description -> InverseSource? in
                guard description.declaredIn == entity, case .toOne(let relationship, let other) = description.content,
                    let inverse = relationship.inverse, origins(of: relationship.name, entity).isEmpty
                else { return nil }
                let pairs = pairs(of: inverse, other, isFlipped: true, owner: entity, member: other, areKept: true)
                return pairs == .none ? nil : InverseSource(entity: entity, slot: slot, pairs: pairs)
            }
        }
    }

    /// The hierarchies of the newer version with references to objects whose keys change, because several hierarchies are merged.
    public var rootsWithOtherReferences: Set<EntityIndex> {
        var roots: Set<EntityIndex> = []
        for part in entities {
            let after = destination[part.destination]
            for (slot, description) in after.slots.enumerated() {
                guard case .slot = part.slots[slot], let other = description.destination else { continue }
                if origins(ofRoot: destination[other].root).count > 1 { roots.insert(after.root) }
            }
        }
        return roots
    }

    // MARK: Pairs

    private func pairs(of link: LinkDescription, areKept: Bool = true) -> LinkSource {
        let (owner, member) = (link.owner, link.member)
        let found = pairs(of: link.ownerRelationship, owner, isFlipped: false, owner: owner, member: member, areKept: areKept)
        guard found == .none, let name = link.memberRelationship else { return found }
        return pairs(of: name, member, isFlipped: true, owner: owner, member: member, areKept: areKept)
    }

    /// Returns the pairs of the old relationship to which a new relationship corresponds.
    ///
    /// - Parameter areKept: Whether the pairs must be pairs of objects that are mapped.
    private func pairs(
        of relationship: String, _ entity: EntityIndex, isFlipped: Bool, owner: EntityIndex, member: EntityIndex, areKept: Bool
    ) -> LinkSource {
        for origin in origins(of: relationship, entity) {
            let pairs = pairs(origin, isFlipped: isFlipped)
            if !areKept { return pairs }
            if let ends = ends(of: pairs), goesOver(ends.owner, owner), goesOver(ends.member, member) { return pairs }
        }
        return .none
    }

    private func pairs(_ place: RelationshipDescription, isFlipped: Bool) -> LinkSource {
        switch place.place {
        case .slot(let slot): .slot(place.declaredIn, slot, isFlipped: isFlipped)
        case .inverseSlot(let slot): .slot(place.destination, slot, isFlipped: !isFlipped)
        case .link(let link, let side): .link(link, isFlipped: (side == .member) != isFlipped)
        case .orderedInverseSlot(_, let link): .link(link, isFlipped: isFlipped)
        }
    }

    /// Returns the entities of the older version at both ends of pairs.
    package func ends(of pairs: LinkSource) -> (owner: EntityIndex, member: EntityIndex)? {
        switch pairs {
        case .none: return nil
        case .link(let link, let isFlipped):
            let (owner, member) = (source.links[link].owner, source.links[link].member)
            return isFlipped ? (member, owner) : (owner, member)
        case .slot(let entity, let slot, let isFlipped):
            guard let destination = source[entity].slots[slot].destination else { return nil }
            return isFlipped ? (destination, entity) : (entity, destination)
        }
    }

    /// Returns whether objects of an old entity's hierarchy are mapped to the hierarchy of a new entity.
    private func goesOver(_ old: EntityIndex, _ new: EntityIndex) -> Bool {
        origins(ofRoot: destination[new].root).contains(source[old].root)
    }

    /// Returns the relationships of the older version to which a new relationship can correspond: those of the entity with its name or
    /// former name, and of the entities whose objects are mapped to it.
    private func origins(of relationship: String, _ entity: EntityIndex) -> [RelationshipDescription] {
        let names = Renames(
            from: source.entities.map { ($0.name, $0.originalName) }, to: destination.entities.map { ($0.name, $0.originalName) },
            direction)
        let named = names.origins[destination.entities[entity].name].flatMap(source.index(of:))
        let family = destination[entity].family
        let mapped = entities.filter { family.contains($0.destination) }.map(\.source)
        let after = EntityMapping.properties(entity, destination)
        return ([named].compactMap { $0 } + mapped).compactMap { before in
            let renames = Renames(from: EntityMapping.properties(before, source), to: after, direction)
            return renames.origins[relationship].flatMap { source[before].relationship($0) }
        }
    }
}
