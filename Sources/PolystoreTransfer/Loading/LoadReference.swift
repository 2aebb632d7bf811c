internal import PolystoreStorage

/// A to-one relationship that a file fills.
struct LoadReference {
    /// The location of the other end of the relationship, in addition to the slot of the relationship itself.
    enum Inverse: Hashable {
        case nowhere
        /// In a slot of the destination, because the other end is also a to-one relationship.
        case slot(Int)
        /// In a link table, which contains the order of a to-many relationship.
        case order(link: Int)
    }

    let search: LoadSearch
    let slot: Int
    let inverse: Inverse
    /// The name of the inverse relationship of the destination.
    let inverseName: String?

    var name: String { search.name }
    var destination: EntityIndex { search.destination }

    /// Creates the reference of a mapping from the name of a relationship, and columns by the names of attributes of its destination.
    init(_ name: String, _ columns: [String: String], of entity: EntityDescription, _ schema: Schema, file: String) throws(StorageError) {
        guard let slot = entity.slot(name), case .toOne(let relationship, let destination) = entity.slots[slot].content else {
            let near = Suggestion.nearest(name, in: entity.relationships.map(\.relationship.name))
            throw StorageError(
                .invalidConfiguration, "\(file.excerpt()): \(entity.name) has no relationship \"\(name.excerpt())\"\(near)")
        }
        let search = try LoadSearch(name, columns, of: entity, to: destination, isRequired: !relationship.isOptional, schema, file: file)
        self.init(search, slot: slot, relationship, schema)
    }

    /// Creates the reference of a relationship that is kept in a slot.
    init(_ search: LoadSearch, slot: Int, _ relationship: Relationship, _ schema: Schema) {
        self.search = search
        self.slot = slot
        let destination = search.destination
        let other = relationship.inverse.flatMap { schema[destination].relationship($0) }
        inverseName = other?.relationship.name
        switch other?.place {
        case .slot(let slot): inverse = .slot(slot)
        case .orderedInverseSlot(_, let link): inverse = .order(link: link)
        case .inverseSlot, .link, nil: inverse = .nowhere
        }
    }
}
