internal import PolystoreStorage

/// A to-many relationship to which a file adds members. Its pairs are in a link table.
struct LoadMembers {
    let search: LoadSearch
    /// The link table, and the end at which the object of a record is.
    let link: Int
    let side: LinkSide
    /// The text between the values of a CSV field with several members; nil if a field is one value.
    let separator: String?
    /// The name of the inverse relationship of the members; nil if there is none.
    let inverseName: String?

    /// Creates the members of a mapping. Returns nil if the entity has no to-many relationship of this name.
    ///
    /// - Throws: `invalidConfiguration` for a relationship that the to-one relationship of its members fills.
    init?(
        _ name: String, _ columns: [String: String], separator: String?, of entity: EntityDescription, _ schema: Schema, file: String
    ) throws(StorageError) {
        guard let description = entity.relationship(name), description.relationship.cardinality != .toOne else { return nil }
        guard case .link(let link, let side) = description.place else {
            let inverse = description.relationship.inverse.map { "\(schema[description.destination].name).\($0)" } ?? "its inverse"
            throw StorageError(
                .invalidConfiguration,
                "\(file.excerpt()): the members of \(entity.name).\(name) refer to their object by \(inverse); map that relationship in the file of the members"
            )
        }
        search = try LoadSearch(name, columns, of: entity, to: description.destination, isRequired: false, schema, file: file)
        self.link = link
        self.side = side
        self.separator = separator
        inverseName = description.relationship.inverse
    }

    /// Creates the members of a relationship that are found by their keys; nil if the relationship is not kept in a link table.
    init?(keysOf description: RelationshipDescription) {
        guard case .link(let link, let side) = description.place else { return nil }
        search = LoadSearch(keysOf: description.relationship.name, to: description.destination, isRequired: false)
        self.link = link
        self.side = side
        separator = nil
        inverseName = description.relationship.inverse
    }
}
