internal import PolystoreStorage

/// An attribute that references objects which may be in another store.
struct ReferenceAttribute: Sendable {
    let entity: EntityIndex
    let slot: Int
    let reference: CrossReference
    let destination: EntityIndex

    /// Returns all reference attributes of a schema.
    static func all(in schema: Schema) -> [ReferenceAttribute] {
        schema.descriptions.flatMap { description in
            description.slots.enumerated().compactMap { index, slot in
                guard slot.declaredIn == description.index, let reference = slot.attribute?.crossReference,
                    let destination = schema.index(of: reference.destination)
                else { return nil }
                return ReferenceAttribute(entity: description.index, slot: index, reference: reference, destination: destination)
            }
        }
    }
}
