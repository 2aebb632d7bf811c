internal import PolystoreStorage

/// The attributes by which the destinations of a relationship are found, and the columns that contain their values.
struct LoadSearch {
    /// An attribute of the destination and the column with its value.
    struct Part {
        let slot: Int
        let column: ExactText
    }

    /// The name of the relationship.
    let name: String
    /// Whether an object must have a destination.
    let isRequired: Bool
    let destination: EntityIndex
    /// The attributes, in the order of their names.
    let parts: [Part]

    /// The position that stands for the primary key instead of a slot.
    static let key = -1

    /// The index in which the destinations are found.
    var lookup: FileLoader.Lookup { FileLoader.Lookup(entity: destination, slots: parts.map(\.slot)) }

    /// Creates the search of a mapping from columns by the names of attributes of the destination.
    init(
        _ name: String, _ columns: [String: String], of entity: EntityDescription, to destination: EntityIndex, isRequired: Bool,
        _ schema: Schema, file: String
    ) throws(StorageError) {
        if columns.isEmpty {
            throw StorageError(
                .invalidConfiguration,
                "\(file.excerpt()): \(entity.name).\(name) needs at least one attribute that identifies its destination")
        }
        self.name = name
        self.isRequired = isRequired
        self.destination = destination
        var parts: [Part] = []
        for (attribute, column) in columns.sorted(by: { $0.key < $1.key }) {
            parts.append(
                Part(slot: try LoadTarget.slot(attribute, of: schema[destination], file: file), column: ExactText(column)))
        }
        self.parts = parts
    }

    /// Creates a search for the destinations by their primary keys.
    ///
    /// - Parameter name: The name of the relationship, which is also that of the column.
    init(keysOf name: String, to destination: EntityIndex, isRequired: Bool) {
        self.name = name
        self.isRequired = isRequired
        self.destination = destination
        parts = [Part(slot: Self.key, column: ExactText(name))]
    }
}
