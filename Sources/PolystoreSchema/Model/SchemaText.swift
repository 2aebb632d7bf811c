internal import PolystoreFoundation

/// The JSON form of a schema.
enum SchemaText {
    /// Returns the text that is hashed for a version. It contains all declarations that determine the stored form, and nothing else, in a
    /// fixed order.
    static func canonical(entities: [Entity]) -> String {
        JSONWriter.write(.array(entities.map { JSONNode(entity($0, forHash: true)) }))
    }

    /// Returns the complete schema as JSON.
    static func document(_ schema: Schema) -> JSONValue {
        var members = [member("version", .string(schema.version))]
        members.append(member("entities", .array(schema.entities.map { JSONNode(entity($0, forHash: false)) })))
        if !schema.configurations.isEmpty {
            let sorted = schema.configurations.sorted { $0.key.compareUTF8(to: $1.key) < 0 }
            members.append(member("configurations", object(sorted.map { member($0.key, strings($0.value)) })))
        }
        return object(members)
    }

    private static func member(_ name: String, _ value: JSONValue) -> JSONMember { JSONMember(name: name, node: JSONNode(value), line: 1) }
    private static func object(_ members: [JSONMember]) -> JSONValue { .object(members) }
    private static func strings(_ list: [String]) -> JSONValue { .array(list.map { JSONNode(.string($0)) }) }

    private static func entity(_ entity: Entity, forHash: Bool) -> JSONValue {
        var members = [member("name", .string(entity.name))]
        if let parent = entity.parent { members.append(member("parent", .string(parent))) }
        if entity.isAbstract { members.append(member("abstract", .bool(true))) }
        if !forHash, let name = entity.originalName { members.append(member("originalName", .string(name))) }
        if !entity.attributes.isEmpty {
            members.append(member("attributes", .array(entity.attributes.map { JSONNode(attribute($0, forHash: forHash)) })))
        }
        if !entity.relationships.isEmpty {
            members.append(member("relationships", .array(entity.relationships.map { JSONNode(relationship($0, forHash: forHash)) })))
        }
        if !entity.indexes.isEmpty {
            members.append(member("indexes", .array(entity.indexes.map { JSONNode(index($0)) })))
        }
        if !entity.uniqueConstraints.isEmpty {
            members.append(member("unique", .array(entity.uniqueConstraints.map { JSONNode(strings($0.properties)) })))
        }
        return object(members)
    }

    /// An ordered index without a condition is an array of names, as before indexes had kinds and conditions, because the hashes of
    /// existing stores depend on this form.
    private static func index(_ index: Index) -> JSONValue {
        if index.kind == .ordered, index.condition == nil { return strings(index.properties) }
        var members = [member("properties", strings(index.properties))]
        if index.kind != .ordered { members.append(member("kind", .string(index.kind.rawValue))) }
        if let condition = index.condition { members.append(member("where", .string(condition))) }
        return object(members)
    }

    private static func attribute(_ attribute: Attribute, forHash: Bool) -> JSONValue {
        var members = [member("name", .string(attribute.name)), member("type", .string(attribute.type.rawValue))]
        if attribute.isOptional { members.append(member("optional", .bool(true))) }
        if !forHash, let value = attribute.defaultValue { members.append(member("default", ValueText.json(value))) }
        if !attribute.allowedValues.isEmpty {
            members.append(member("values", .array(attribute.allowedValues.map { JSONNode(ValueText.json($0)) })))
        }
        if let coder = attribute.coder { members.append(member("coder", .string(coder))) }
        if !forHash { members += rules(attribute) }
        if !forHash, let name = attribute.originalName { members.append(member("originalName", .string(name))) }
        return object(members)
    }

    /// Returns the members that do not affect the stored form.
    private static func rules(_ attribute: Attribute) -> [JSONMember] {
        let rules = attribute.rules
        var members: [JSONMember] = []
        if let value = rules.minimum { members.append(member("minimum", ValueText.json(value))) }
        if let value = rules.maximum { members.append(member("maximum", ValueText.json(value))) }
        if let length = rules.minLength { members.append(member("minLength", .number(String(length)))) }
        if let length = rules.maxLength { members.append(member("maxLength", .number(String(length)))) }
        if let pattern = rules.pattern { members.append(member("pattern", .string(pattern))) }
        if attribute.history != .recorded { members.append(member("history", .string(attribute.history.rawValue))) }
        if let reference = attribute.crossReference {
            members.append(
                member(
                    "reference",
                    object([
                        member("to", .string(reference.destination)), member("deleteRule", .string(reference.deleteRule.rawValue)),
                        member("inverseDeleteRule", .string(reference.inverseDeleteRule.rawValue)),
                    ])))
        }
        return members
    }

    private static func relationship(_ relationship: Relationship, forHash: Bool) -> JSONValue {
        var members = [member("name", .string(relationship.name)), member("to", .string(relationship.destination))]
        members.append(member("kind", .string(relationship.cardinality.rawValue)))
        if !relationship.isOptional { members.append(member("optional", .bool(false))) }
        if let inverse = relationship.inverse { members.append(member("inverse", .string(inverse))) }
        if relationship.deleteRule != .nullify { members.append(member("deleteRule", .string(relationship.deleteRule.rawValue))) }
        if !forHash, let count = relationship.minCount { members.append(member("minCount", .number(String(count)))) }
        if !forHash, let count = relationship.maxCount { members.append(member("maxCount", .number(String(count)))) }
        if !forHash, let name = relationship.originalName { members.append(member("originalName", .string(name))) }
        return object(members)
    }
}

extension Schema {
    /// The schema as one line of JSON, from which `init(json:)` creates an equal schema.
    public var json: String { JSONWriter.write(SchemaText.document(self)) }

    /// The schema as JSON, indented for readers.
    public var prettyJSON: String { JSONWriter.write(SchemaText.document(self), pretty: true) + "\n" }
}
