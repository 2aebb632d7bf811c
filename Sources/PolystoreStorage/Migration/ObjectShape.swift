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
    private let names: [String]
    /// Whether a transformer has used each slot: has read it in an object of the older version, or assigned it in one of the newer version.
    @exclusivity(unchecked) private(set) var isUsed: [Bool]

    init(_ entity: EntityDescription) {
        self.entity = entity
        types = entity.slots.map(\.type)
        destinations = entity.slots.map(\.destination)
        isPlain = entity.slots.indices.map { !entity.isIndexed($0) && entity.slots[$0].attribute?.coder == nil }
        names = entity.slots.map(\.name)
        isUsed = entity.slots.map { _ in false }
    }

    /// Records that a transformer uses a slot.
    func noteUse(of slot: Int) {
        if !isUsed[slot] { isUsed[slot] = true }
    }

    /// Returns the slot of the attribute with the name of another one, which can belong to another entity or version. Returns nil and reports
    /// it if there is none.
    func slot(of attribute: MigrationAttribute, _ problems: MigrationProblems) -> Int? {
        let slot = attribute.slot
        if slot < names.count, names[slot] == attribute.name, destinations[slot] == nil { return slot }
        if let slot = entity.slot(attribute.name), destinations[slot] == nil { return slot }
        problems.add(.noAttribute(attribute.name, entity))
        return nil
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

extension StorageError {
    /// Returns the error for a property that an entity does not have. The message names the nearest existing property.
    static func noProperty(_ name: String, _ entity: EntityDescription) -> StorageError {
        let names = entity.slots.map(\.name) + entity.relationships.map(\.relationship.name)
        return StorageError(
            .invalidPredicate, "entity \(entity.name) has no property \"\(name)\"\(Suggestion.nearest(name, in: names))",
            details: .init(entity: entity.name, property: name))
    }

    /// Returns the error for an attribute that an entity does not have.
    static func noAttribute(_ name: String, _ entity: EntityDescription) -> StorageError {
        if entity.relationship(name) == nil { return .noProperty(name, entity) }
        return StorageError(
            .invalidPredicate, "\(entity.name).\(name) is a relationship and not an attribute",
            details: .init(entity: entity.name, property: name))
    }
}
