/// The names of the members of an object's record that are no properties of the object.
enum ObjectRecord {
    /// The entity and the primary key.
    static let entity = "polystore_entity", key = "polystore_key"
    /// The property for which the object was left out.
    static let property = "polystore_property"
    /// The member of the object in place of a value that cannot be read.
    static let unreadable = "polystore_unreadable"

    /// The names in a record, apart from that of the reason.
    static let names = [entity, key, property]
}
