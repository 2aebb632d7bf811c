/// The mapping of the objects of an entity to an entity of the next version.
package struct EntityMapping: Sendable, Hashable {
    /// The entity in the older version.
    package let source: EntityIndex
    /// The entity in the newer version.
    package let destination: EntityIndex
    /// The source of the value of each slot of the destination.
    package var slots: [SlotSource]
    /// The slot of the source to which each slot of the destination corresponds, also if its values are lost with the objects to which they
    /// refer.
    let origins: [Int?]

    /// Creates the mapping that is inferred from the two descriptions.
    package init(from before: EntityDescription, _ old: Schema, to after: EntityDescription, _ new: Schema) {
        self.init(from: before, old, to: after, new, .forward)
    }

    init(from before: EntityDescription, _ old: Schema, to after: EntityDescription, _ new: Schema, _ direction: Renames.Direction) {
        source = before.index
        destination = after.index
        let names = Renames(from: Self.properties(before.index, old), to: Self.properties(after.index, new), direction)
        slots = after.slots.map { slot in
            let fallback = slot.attribute?.defaultValue ?? .null
            guard let origin = names.origins[slot.name].flatMap(before.slot),
                Self.goesOver(before.slots[origin].content, slot.content)
            else { return .value(fallback) }
            let mayBeNil = before.slots[origin].attribute?.isOptional == true && slot.attribute?.isOptional == false
            return .slot(origin, ifNil: mayBeNil ? fallback : .null)
        }
        origins = slots.map { if case .slot(let origin, _) = $0 { origin } else { nil } }
    }

    /// Returns the properties including inherited ones, in declaration order.
    static func properties(_ index: EntityIndex, _ schema: Schema) -> [Renames.Declaration] {
        var result: [Renames.Declaration] = []
        var next: EntityIndex? = index
        while let current = next {
            let entity = schema.entities[current]
            result += entity.attributes.map { ($0.name, $0.originalName) } + entity.relationships.map { ($0.name, $0.originalName) }
            next = schema[current].parent
        }
        return result
    }

    private static func goesOver(_ before: Slot.Content, _ after: Slot.Content) -> Bool {
        switch (before, after) {
        case (.attribute(let before), .attribute(let after)):
            before.coder == after.coder && (before.type == after.type || before.type.canBecome(after.type))
        case (.toOne, .toOne): true
        case (.attribute, .toOne), (.toOne, .attribute): false
        }
    }
}
