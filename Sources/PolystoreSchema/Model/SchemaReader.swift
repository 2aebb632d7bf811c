/// Reads a schema from its JSON form. Every error contains its line.
struct SchemaReader {
    /// Reads the schema of a text.
    static func schema(_ text: String) throws(SchemaError) -> Schema {
        let document: JSONNode
        do throws(JSONError) { document = try JSONParser.parse(text) } catch {
            throw SchemaError("", "column \(error.column): \(error.message)", line: error.line)
        }
        let reader = SchemaReader()
        let fields = try Fields(document, "", ["version", "entities", "configurations"])
        var entities: [Entity] = [], lines: [String: Int] = [:]
        for node in try fields.array("entities") {
            let entity = try reader.entity(node)
            entities.append(entity)
            lines[entity.name] = node.line
        }
        var configurations: [String: [String]] = [:]
        if let node = fields["configurations"] {
            guard case .object(let members) = node.value else {
                throw SchemaError("configurations", "an object is expected that maps names to arrays of entity names", line: node.line)
            }
            for member in members { configurations[member.name] = try reader.strings(member.node, "configurations.\(member.name)") }
        }
        do throws(SchemaError) {
            return try Schema(version: try fields.string("version") ?? "1", entities: entities, configurations: configurations)
        } catch {
            var located = error
            let name = error.path.split(separator: ".").first.map(String.init) ?? ""
            if located.line == nil { located.line = lines[name] ?? document.line }
            throw located
        }
    }

    private func strings(_ node: JSONNode, _ path: String) throws(SchemaError) -> [String] {
        guard case .array(let items) = node.value else { throw SchemaError(path, "an array of names is expected", line: node.line) }
        var result: [String] = []
        for item in items {
            guard case .string(let name) = item.value else { throw SchemaError(path, "a name is expected", line: item.line) }
            result.append(name)
        }
        return result
    }

    private func entity(_ node: JSONNode) throws(SchemaError) -> Entity {
        let known = ["name", "parent", "abstract", "originalName", "attributes", "relationships", "indexes", "unique"]
        let fields = try Fields(node, "entities", known)
        var entity = Entity(try fields.required("name"))
        let named = try Fields(node, entity.name, known)
        entity.parent = try named.string("parent")
        entity.isAbstract = try named.bool("abstract") ?? false
        entity.originalName = try named.string("originalName")
        for item in try named.array("attributes") { try add(attribute: item, to: &entity) }
        for item in try named.array("relationships") { entity.relationships.append(try relationship(item, entity.name)) }
        for item in try named.array("indexes") { entity.indexes.append(try index(item, "\(entity.name).indexes")) }
        for item in try named.array("unique") {
            entity.uniqueConstraints.append(UniqueConstraint(try strings(item, "\(entity.name).unique")))
        }
        return entity
    }

    /// Reads an index: an array of names, or an object if the index has a kind or a condition.
    private func index(_ node: JSONNode, _ path: String) throws(SchemaError) -> Index {
        if case .array = node.value { return Index(try strings(node, path)) }
        let fields = try Fields(node, path, ["properties", "kind", "where"])
        guard let properties = fields["properties"] else { throw SchemaError(path, "\"properties\" is missing", line: node.line) }
        var index = Index(try strings(properties, path))
        let kinds = Index.Kind.allCases.map(\.rawValue)
        if let kind = try fields.choice("kind", Index.Kind.init(rawValue:), kinds) { index.kind = kind }
        index.condition = try fields.string("where")
        return index
    }

    private func add(attribute node: JSONNode, to entity: inout Entity) throws(SchemaError) {
        let known = [
            "name", "type", "optional", "default", "values", "unique", "indexed", "coder", "originalName", "minimum", "maximum",
            "minLength", "maxLength", "pattern", "reference", "history",
        ]
        let name = try Fields(node, entity.name, known).required("name")
        let fields = try Fields(node, "\(entity.name).\(name)", known)
        let typeName = try fields.required("type")
        guard let type = ValueType(rawValue: typeName) else {
            throw SchemaError(
                "\(entity.name).\(name)",
                "\"\(typeName.excerpt())\" is not a type\(Suggestion.nearest(typeName, in: ValueType.allCases.map(\.rawValue)))",
                line: fields["type"]?.line)
        }
        var attribute = Attribute(name, type, isOptional: try fields.bool("optional") ?? false)
        attribute.coder = try fields.string("coder")
        attribute.originalName = try fields.string("originalName")
        if let node = fields["default"] { attribute.defaultValue = try value(node, type, fields.path) }
        for item in try fields.array("values") { attribute.allowedValues.append(try value(item, type, fields.path)) }
        attribute.rules = try rules(fields, type)
        let histories = AttributeHistory.allCases.map(\.rawValue)
        attribute.history = try fields.choice("history", AttributeHistory.init(rawValue:), histories) ?? .recorded
        if let node = fields["reference"] { attribute.crossReference = try reference(node, fields.path) }
        entity.attributes.append(attribute)
        if try fields.bool("unique") ?? false { entity.uniqueConstraints.append(UniqueConstraint([name])) }
        if try fields.bool("indexed") ?? false { entity.indexes.append(Index([name])) }
    }

    private func rules(_ fields: Fields, _ type: ValueType) throws(SchemaError) -> AttributeRules {
        var rules = AttributeRules()
        if let node = fields["minimum"] { rules.minimum = try value(node, type, fields.path) }
        if let node = fields["maximum"] { rules.maximum = try value(node, type, fields.path) }
        rules.minLength = try fields.count("minLength")
        rules.maxLength = try fields.count("maxLength")
        rules.pattern = try fields.string("pattern")
        return rules
    }

    private func reference(_ node: JSONNode, _ path: String) throws(SchemaError) -> CrossReference {
        let fields = try Fields(node, path, ["to", "deleteRule", "inverseDeleteRule"])
        var reference = CrossReference(to: try fields.required("to"))
        if let rule = try deleteRule("deleteRule", fields) { reference.deleteRule = rule }
        if let rule = try deleteRule("inverseDeleteRule", fields) { reference.inverseDeleteRule = rule }
        return reference
    }

    private func deleteRule(_ name: String, _ fields: Fields) throws(SchemaError) -> DeleteRule? {
        try fields.choice(name, DeleteRule.init(rawValue:), ["nullify", "cascade", "deny"])
    }

    private func value(_ node: JSONNode, _ type: ValueType, _ path: String) throws(SchemaError) -> Value {
        guard let value = ValueText.value(node.value, as: type) else {
            throw SchemaError(path, "a value of type \(type.rawValue) is expected", line: node.line)
        }
        return value
    }

    private func relationship(_ node: JSONNode, _ entity: String) throws(SchemaError) -> Relationship {
        let known = ["name", "to", "kind", "optional", "inverse", "deleteRule", "minCount", "maxCount", "originalName"]
        let name = try Fields(node, entity, known).required("name")
        let fields = try Fields(node, "\(entity).\(name)", known)
        var relationship = Relationship(name, to: try fields.required("to"))
        if let kind = try fields.choice("kind", Cardinality.init(rawValue:), ["toOne", "toMany", "toManyOrdered"]) {
            relationship.cardinality = kind
        }
        if let rule = try deleteRule("deleteRule", fields) { relationship.deleteRule = rule }
        relationship.minCount = try fields.count("minCount")
        relationship.maxCount = try fields.count("maxCount")
        relationship.isOptional = try fields.bool("optional") ?? true
        relationship.inverse = try fields.string("inverse")
        relationship.originalName = try fields.string("originalName")
        return relationship
    }

    /// The members of an object whose names were checked.
    private struct Fields {
        let path: String
        private let line: Int
        private let members: [String: JSONNode]

        init(_ node: JSONNode, _ path: String, _ known: [String]) throws(SchemaError) {
            guard case .object(let members) = node.value else { throw SchemaError(path, "an object is expected", line: node.line) }
            for member in members where !known.contains(member.name) {
                throw SchemaError(
                    path, "\"\(member.name.excerpt())\" is not a known key\(Suggestion.nearestOrAll(member.name, of: known))",
                    line: member.line)
            }
            self.path = path
            line = node.line
            self.members = Dictionary(members.map { ($0.name, $0.node) }, uniquingKeysWith: { first, _ in first })
        }

        subscript(name: String) -> JSONNode? { members[name] }

        func string(_ name: String) throws(SchemaError) -> String? {
            guard let node = members[name] else { return nil }
            guard case .string(let text) = node.value else { throw SchemaError(path, "\"\(name)\" must be a string", line: node.line) }
            return text
        }

        func required(_ name: String) throws(SchemaError) -> String {
            guard let text = try string(name) else { throw SchemaError(path, "\"\(name)\" is missing", line: line) }
            return text
        }

        func bool(_ name: String) throws(SchemaError) -> Bool? {
            guard let node = members[name] else { return nil }
            guard case .bool(let value) = node.value else {
                throw SchemaError(path, "\"\(name)\" must be true or false", line: node.line)
            }
            return value
        }

        func count(_ name: String) throws(SchemaError) -> Int? {
            guard let node = members[name] else { return nil }
            guard case .number(let text) = node.value, let count = Int(text), count >= 0 else {
                throw SchemaError(path, "\"\(name)\" must be an integer of at least 0", line: node.line)
            }
            return count
        }

        func array(_ name: String) throws(SchemaError) -> [JSONNode] {
            guard let node = members[name] else { return [] }
            guard case .array(let items) = node.value else { throw SchemaError(path, "\"\(name)\" must be an array", line: node.line) }
            return items
        }

        func choice<T>(_ name: String, _ make: (String) -> T?, _ allowed: [String]) throws(SchemaError) -> T? {
            guard let text = try string(name) else { return nil }
            guard let value = make(text) else {
                throw SchemaError(
                    path, "\"\(text.excerpt())\" is not one of \(allowed.joined(separator: ", "))\(Suggestion.nearest(text, in: allowed))",
                    line: members[name]?.line)
            }
            return value
        }
    }
}

extension Schema {
    /// Reads the schema of a model file.
    ///
    /// - Throws: `SchemaError` with the line of the file.
    public init(json: String) throws(SchemaError) { self = try SchemaReader.schema(json) }
}
