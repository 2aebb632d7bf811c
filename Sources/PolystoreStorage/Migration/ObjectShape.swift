/// What a transformer's objects ask of their entity at every turn, in plain arrays: a copy of a description counts a dozen references.
final class ObjectShape {
    let entity: EntityDescription
    let types: [ValueType]
    /// The entity that each slot leads to; nil for an attribute.
    let destinations: [EntityIndex?]
    /// Whether a value of a slot needs no more than a look at its type: it is in no index.
    let isPlain: [Bool]

    init(_ entity: EntityDescription) {
        self.entity = entity
        types = entity.slots.map(\.type)
        destinations = entity.slots.map(\.destination)
        isPlain = entity.slots.indices.map { !entity.isIndexed($0) && entity.slots[$0].attribute?.coder == nil }
    }

    /// The value of a slot as it is stored: that of most needs no normalising.
    @inline(__always)
    func normalise(_ value: Value, slot: Int) throws(ValueError) -> Value {
        if isPlain[slot] {
            switch (value, types[slot]) {
            case (.string(let text), .string):
                var text = text
                if text.withUTF8({ bytes in bytes.allSatisfy { $0 != 0 } }) { return .string(text) }
            case (.int, .int64), (.bool, .bool), (.null, _): return value
            default: break
            }
        }
        return try entity.normalise(value, slot: slot)
    }
}
