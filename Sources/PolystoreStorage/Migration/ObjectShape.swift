internal import PolystoreFoundation

/// The properties of an entity that transformers access for each object, in plain arrays. Copying a description would retain a dozen
/// references.
final class ObjectShape {
    let entity: EntityDescription
    let types: [ValueType]
    /// The destination entity of each slot, or nil for an attribute.
    let destinations: [EntityIndex?]
    /// Whether a value of a slot needs no check except of its type, because the slot is not indexed and has no coder.
    let isPlain: [Bool]

    init(_ entity: EntityDescription) {
        self.entity = entity
        types = entity.slots.map(\.type)
        destinations = entity.slots.map(\.destination)
        isPlain = entity.slots.indices.map { !entity.isIndexed($0) && entity.slots[$0].attribute?.coder == nil }
    }

    /// Returns the normalised value of a slot, in the form in which it is stored. Most values need no normalising.
    @inline(__always)
    func normalise(_ value: Value, slot: Int) throws(ValueError) -> Value {
        if isPlain[slot] {
            switch (value, types[slot]) {
            case (.string(let text), .string):
                var text = text
                if text.withUTF8({ bytes in bytes.allSatisfy { $0 != 0 } }) { return .string(text) }
            case (.int, .int64), (.bool, .bool), (.null, _): return value
            case (.bool, _), (.int, _), (.double, _), (.decimal, _), (.string, _), (.date, _), (.uuid, _), (.data, _): break
            }
        }
        return try entity.normalise(widened(value, types[slot]), slot: slot)
    }

    /// Converts an integer to a wider numeric type. A value that is copied from the older version need not have the newer type.
    private func widened(_ value: Value, _ type: ValueType) -> Value {
        guard case .int(let number) = value else { return value }
        if type.base == .double { return Double(exactly: number).map(Value.double) ?? value }
        return type == .decimal ? .decimal(Decimal(number)) : value
    }
}
