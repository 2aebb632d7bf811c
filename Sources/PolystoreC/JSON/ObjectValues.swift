internal import Polystore
internal import PolystoreStorage
internal import PolystoreTransfer

/// The values of an object in JSON, which a transaction assigns.
struct ObjectValues {
    private let members: [JSONMember]
    /// The version that the object must have; nil if it was not said.
    let version: Int64?

    /// Reads a JSON object; nil is one without members.
    ///
    /// - Throws: `valueNotStorable` for a text of another form.
    init(_ json: String?) throws(StorageError) {
        guard let json else {
            (members, version) = ([], nil)
            return
        }
        guard case .object(let all) = try JSONFields.parse(json, "the text of the values", code: .valueNotStorable) else {
            throw StorageError(.valueNotStorable, "the values must be a JSON object")
        }
        members = all.filter { $0.name != "version" }
        guard let stated = all.first(where: { $0.name == "version" }) else {
            version = nil
            return
        }
        guard case .number(let text) = stated.node.value, let number = Int64(text) else {
            throw StorageError(.valueNotStorable, "\"version\" must be an integer")
        }
        version = number
    }

    /// A value that fits its property.
    enum Assignment {
        case attribute(String, Value)
        case toOne(String, DynamicObject?)
        case toMany(String, [DynamicObject])

        fileprivate var isReference: Bool { if case .attribute = self { false } else { true } }
    }

    /// Returns what is to be assigned. Everything is checked before the first property changes.
    ///
    /// - Throws: `invalidPredicate` for an unknown property, with the most similar one; `valueNotStorable` for a value of another type;
    ///   `notFound` for the key of an object that does not exist; errors of the values.
    func assignments(_ entity: EntityDescription, _ objects: ObjectLookup) throws(StorageError) -> [Assignment] {
        var assignments: [Assignment] = []
        for member in members {
            let name = Self.property(member.name)
            if let slot = entity.slot(name), let attribute = entity.slots[slot].attribute {
                guard let value = ValueText.value(member.node.value, as: attribute.type) else {
                    throw Self.wrong(entity.name, name, "a value of type \(attribute.type.rawValue)")
                }
                do throws(ValueError) { assignments.append(.attribute(name, try entity.normalise(value, slot: slot))) } catch {
                    throw StorageError(error)
                }
            } else if let relationship = entity.relationship(name) {
                assignments.append(try Self.assignment(member.node.value, relationship.relationship, entity, objects))
            } else {
                let known = entity.slots.map(\.name) + entity.relationships.map(\.relationship.name)
                throw StorageError(
                    .invalidPredicate, "\(entity.name) has no property \"\(name.excerpt())\"\(Suggestion.nearest(name, in: known))",
                    details: .init(entity: entity.name, property: name))
            }
        }
        return assignments
    }

    private static func assignment(
        _ value: JSONValue, _ relationship: Relationship, _ entity: EntityDescription, _ objects: ObjectLookup
    ) throws(StorageError) -> Assignment {
        let name = relationship.name
        func found(_ value: JSONValue) throws(StorageError) -> DynamicObject {
            guard case .number(let text) = value, let key = Int64(text) else {
                throw wrong(entity.name, name, "the key of an object of \(relationship.destination)")
            }
            if let object = try objects.find(relationship.destination, key) { return object }
            throw StorageError(
                .notFound, "\(entity.name).\(name): no object of \(relationship.destination) has the key \(key)",
                details: .init(entity: entity.name, property: name, keys: [key]))
        }
        switch (relationship.cardinality, value) {
        case (.toOne, .null): return .toOne(name, nil)
        case (.toOne, _): return .toOne(name, try found(value))
        case (.toMany, .array(let items)), (.toManyOrdered, .array(let items)):
            var members: [DynamicObject] = []
            for item in items { members.append(try found(item.value)) }
            return .toMany(name, members)
        case (.toMany, _), (.toManyOrdered, _):
            throw wrong(entity.name, name, "an array of keys of objects of \(relationship.destination)")
        }
    }

    /// Returns the property of a member, whose name begins with a period if it would be one of the members of every object.
    private static func property(_ member: String) -> String {
        member.hasPrefix(".") && RowLines.member(String(member.dropFirst())) == member ? String(member.dropFirst()) : member
    }

    private static func wrong(_ entity: String, _ property: String, _ wanted: String) -> StorageError {
        StorageError(.valueNotStorable, "\(entity).\(property) must be \(wanted)", details: .init(entity: entity, property: property))
    }
}

extension WriteTransaction {
    /// Runs an operation that assigns values. If it fails, nothing of it remains; only a reference can still be refused when it is assigned.
    func assigning(
        _ assignments: [ObjectValues.Assignment], _ body: () throws(StorageError) -> Void
    ) throws(StorageError) {
        if assignments.contains(where: \.isReference) { try wholly(body) } else { try body() }
    }
}

extension DynamicObject {
    /// Assigns values.
    func assign(_ assignments: [ObjectValues.Assignment]) throws(StorageError) {
        for assignment in assignments {
            switch assignment {
            case .attribute(let name, let value): try setValue(value, for: name)
            case .toOne(let name, let object): try setObject(object, for: name)
            case .toMany(let name, let objects): try setObjects(objects, for: name)
            }
        }
    }
}
