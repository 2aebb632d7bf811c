internal import PolystoreStorage

/// The attribute by which people recognise the objects of an entity.
enum ObjectLabel {
    private static let usual = ["name", "title", "label", "fullname", "displayname", "subject", "headline", "code", "email", "username"]

    /// Returns the slot of the attribute: one with a usual name, the only text of a unique constraint, or the first text. Nil for none.
    static func slot(_ entity: EntityDescription) -> Int? {
        func isText(_ slot: Int) -> Bool { entity.slots[slot].attribute.map { $0.type == .string && $0.coder == nil } ?? false }
        let texts = entity.slots.indices.filter(isText)
        let named = usual.lazy.compactMap { name in texts.first { entity.slots[$0].name.lowercased() == name } }.first
        let unique = entity.uniqueConstraints.lazy.filter { $0.slots.count == 1 }.compactMap { $0.slots.first }.first(where: isText)
        return named ?? unique ?? texts.first
    }

    /// Returns the label of an object; nil if it has none.
    static func text(_ record: ObjectRecord, _ schema: Schema) -> String? {
        slot(schema[record.entity]).flatMap { record.values.indices.contains($0) ? record.values[$0].label : nil }
    }
}
