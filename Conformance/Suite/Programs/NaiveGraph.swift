internal import Foundation
internal import PolystoreStorage

/// The objects of a program in dictionaries and arrays: the contract of each operation, implemented as simply as possible.
struct NaiveGraph {
    /// An object with its values and the destinations of its relationships.
    struct Object {
        let number: Int
        var entity: String
        /// The store that contains it.
        let home: Int
        var values: [String: Value] = [:]
        /// The numbers of the destinations of each relationship, and of each reference into another store.
        var related: [String: [Int]] = [:]
    }

    /// The reason for a refused operation. Nothing has changed then.
    struct Refused: Error, Equatable {
        let code: StorageError.Code
    }

    var schema: Schema
    var objects: [Int: Object] = [:]
    /// The number of transactions that were committed.
    var commits = 0

    init(_ schema: Schema) { self.schema = schema }

    // MARK: The model

    func relationship(_ name: String, of number: Int) -> Relationship? {
        objects[number].flatMap { schema.description($0.entity).relationship(name)?.relationship }
    }

    func isKind(_ number: Int, of entity: String) -> Bool {
        guard let object = objects[number], let index = schema.index(of: entity) else { return false }
        return schema[index].family.contains(schema.description(object.entity).index)
    }

    /// Returns the references into other stores of an entity, including inherited ones.
    func references(_ entity: String) -> [Attribute] {
        schema.description(entity).slots.compactMap { $0.attribute?.crossReference == nil ? nil : $0.attribute }
    }

    // MARK: Changes

    mutating func create(_ number: Int, _ entity: String, _ home: Int) {
        var object = Object(number: number, entity: entity, home: home)
        for slot in schema.description(entity).slots {
            if let attribute = slot.attribute, attribute.crossReference == nil {
                object.values[slot.name] = attribute.defaultValue.map { Self.stored($0, attribute.type) } ?? .null
            }
        }
        objects[number] = object
    }

    mutating func assign(_ number: Int, _ name: String, _ value: Value) throws(Refused) {
        guard let entity = objects[number]?.entity else { return }
        let kept = try checked(value, entity, name)
        objects[number]?.values[name] = kept
    }

    /// Returns a value as it is stored.
    func checked(_ value: Value, _ entity: String, _ name: String) throws(Refused) -> Value {
        let description = schema.description(entity)
        guard let slot = description.slot(name), let attribute = description.slots[slot].attribute else { return .null }
        if let code = Self.refusal(value, attribute.type) { throw Refused(code: code) }
        let isAllowed =
            attribute.allowedValues.isEmpty || value.isNull || attribute.allowedValues.contains { ReferenceStore.order($0, value) == 0 }
        if !isAllowed { throw Refused(code: .valueNotStorable) }
        if isIndexed(name, description), value.byteCount ?? 0 > 1024 { throw Refused(code: .valueTooLarge) }
        return Self.stored(value, attribute.type)
    }

    private func isIndexed(_ name: String, _ description: EntityDescription) -> Bool {
        let lists = description.indexes + description.uniqueConstraints.map(\.slots)
        return lists.contains { list in list.contains { description.slots[$0].name == name } }
    }

    private static func refusal(_ value: Value, _ type: ValueType) -> StorageError.Code? {
        if value.isNull { return nil }
        if value.type != type.base { return .valueNotStorable }
        return switch (type, value) {
        case (.int16, .int(let number)): Int16(exactly: number) == nil ? .valueOutOfRange : nil
        case (.int32, .int(let number)): Int32(exactly: number) == nil ? .valueOutOfRange : nil
        case (.double, .double(let number)): number.isNaN ? .valueNotStorable : nil
        case (.float, .double(let number)):
            number.isNaN ? .valueNotStorable : (number.isFinite && !Float(number).isFinite ? .valueOutOfRange : nil)
        case (.decimal, .decimal(let number)): number.isNaN ? .valueNotStorable : nil
        case (.string, .string(let text)): text.unicodeScalars.contains("\0") ? .valueNotStorable : nil
        case (.url, .string(let text)): text.isEmpty ? .valueNotStorable : nil
        case (.date, .date(let date)): date < Microseconds.minimum || date > Microseconds.maximum ? .valueOutOfRange : nil
        // Every other value has a place.
        case (_, _): nil
        }
    }

    static func stored(_ value: Value, _ type: ValueType) -> Value {
        switch (type, value) {
        case (.float, .double(let number)): .double(Double(Float(number)) + 0)
        case (.double, .double(let number)): .double(number + 0)
        case (_, _): value
        }
    }

    // MARK: Rules

    /// Whether two objects are equal in a unique constraint.
    var violatesUnique: Bool {
        for entity in schema.entities {
            for constraint in entity.uniqueConstraints {
                var seen: [(home: Int, values: [Value])] = []
                for object in objects.values where isKind(object.number, of: entity.name) {
                    let values = constraint.properties.map { value($0, of: object) }
                    if values.contains(where: \.isNull) { continue }
                    let isTaken = seen.contains { other in
                        other.home == object.home && zip(other.values, values).allSatisfy { ReferenceStore.order($0, $1) == 0 }
                    }
                    if isTaken { return true }
                    seen.append((object.home, values))
                }
            }
        }
        return false
    }

    private func value(_ name: String, of object: Object) -> Value {
        if let related = object.related[name] { return related.first.map { .int(Int64($0)) } ?? .null }
        return object.values[name] ?? .null
    }

    /// Whether an object violates a rule of the model.
    var violatesRules: Bool { objects.values.contains(where: violatesRules) }

    func violatesRules(_ object: Object) -> Bool {
        let description = schema.description(object.entity)
        for slot in description.slots {
            guard let attribute = slot.attribute, attribute.crossReference == nil else { continue }
            let value = object.values[slot.name] ?? .null
            if value.isNull {
                if !attribute.isOptional { return true }
                continue
            }
            if let least = attribute.rules.minimum, ReferenceStore.order(value, least) < 0 { return true }
            if let most = attribute.rules.maximum, ReferenceStore.order(value, most) > 0 { return true }
            let length = if case .string(let text) = value { text.unicodeScalars.count } else { value.byteCount ?? 0 }
            if let least = attribute.rules.minLength, length < least { return true }
            if let most = attribute.rules.maxLength, length > most { return true }
            if let pattern = attribute.rules.pattern, case .string(let text) = value {
                if !ReferenceStore(rows: []).matches(text, .matches, pattern) { return true }
            }
        }
        return description.relationships.contains { item in
            let relationship = item.relationship, count = object.related[relationship.name]?.count ?? 0
            if !relationship.isOptional, count == 0 { return true }
            return count < relationship.minCount ?? 0 || count > relationship.maxCount ?? .max
        }
    }
}
