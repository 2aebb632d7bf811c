internal import PolystoreStorage

/// A to-one relationship that a file fills, and the attributes by which its destination is found.
struct LoadReference {
    /// The location of the other end of the relationship, in addition to the slot of the relationship itself.
    enum Inverse: Hashable {
        case nowhere
        /// In a slot of the destination, because the other end is also a to-one relationship.
        case slot(Int)
        /// In a link table, which contains the order of a to-many relationship.
        case order(link: Int)
    }

    /// An attribute of the destination and the column with its value.
    struct Part {
        let slot: Int
        let column: ExactText
    }

    let name: String
    let slot: Int
    let isRequired: Bool
    let destination: EntityIndex
    let inverse: Inverse
    /// The name of the inverse relationship of the destination.
    let inverseName: String?
    /// The attributes by which the destination is found, in the order of their names.
    let parts: [Part]

    /// Creates the reference of a mapping from the name of a relationship, and columns by the names of attributes of its destination.
    init(_ name: String, _ columns: [String: String], of entity: EntityDescription, _ schema: Schema, file: String) throws(StorageError) {
        guard let slot = entity.slot(name), case .toOne(let relationship, let destination) = entity.slots[slot].content else {
            let near = Suggestion.nearest(name, in: entity.slots.map(\.name))
            throw StorageError(
                .invalidConfiguration, "\(file.excerpt()): \(entity.name) has no to-one relationship \"\(name.excerpt())\"\(near)")
        }
        if columns.isEmpty {
            throw StorageError(
                .invalidConfiguration,
                "\(file.excerpt()): \(entity.name).\(name) needs at least one attribute that identifies its destination")
        }
        self.name = name
        self.slot = slot
        self.destination = destination
        isRequired = !relationship.isOptional
        let other = relationship.inverse.flatMap { schema[destination].relationship($0) }
        inverseName = other?.relationship.name
        switch other?.place {
        case .slot(let slot): inverse = .slot(slot)
        case .orderedInverseSlot(_, let link): inverse = .order(link: link)
        case .inverseSlot, .link, nil: inverse = .nowhere
        }
        var parts: [Part] = []
        for (attribute, column) in columns.sorted(by: { $0.key < $1.key }) {
            parts.append(
                Part(slot: try LoadTarget.slot(attribute, of: schema[destination], file: file), column: ExactText(column)))
        }
        self.parts = parts
    }
}
