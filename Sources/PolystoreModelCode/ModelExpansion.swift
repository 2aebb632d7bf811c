internal import PolystoreSchema

/// The one expansion of a model class: what the macro adds to it and what the generator writes.
public struct ModelExpansion {
    private let model: ModelClass
    private let access: String
    private let isPublic: Bool

    /// The expansion of a class.
    public init(_ model: ModelClass) {
        self.model = model
        isPublic = model.access == "public"
        access = isPublic ? "public " : ""
    }

    /// The members of the class that are not properties.
    public func members() -> [String] {
        [layout(), entityName(), declaration(), slotNames(), rowInit(), newInit(), reload(), encode()]
            + (model.slots.contains { $0.kind == .toOne } ? [reference(), setReference()] : [])
            + [snapshot()]
    }

    /// The accessors of a property, without braces.
    public func accessors(_ property: ModelClass.Property) -> String {
        Self.accessors(property, slot: model.slots.firstIndex { $0.name == property.name } ?? 0, isPublic: isPublic)
    }

    /// The accessors of a property whose slot is known.
    public static func accessors(_ property: ModelClass.Property, slot: Int, isPublic: Bool) -> String {
        let inlinable = isPublic ? "@inlinable " : ""
        let name = Names.storage(property.name), slot = "_Schema.base + \(slot)", key = Names.literal(property.key)
        switch property.kind {
        case .toMany:
            return "get { _set(\(key), \(property.type).self) }\nset { _setMany(\(key), newValue) }"
        case .toManyOrdered:
            return "get { _list(\(key), \(property.type).self) }\nset { _setMany(\(key), newValue) }"
        case .toOne:
            return "get { _one(\(slot), \(name), \(property.type).self) }\nset { _setOne(\(slot), newValue) }"
        case .attribute:
            let accept = property.isIndexed && Self.hasBytes(property.type) ? "_acceptBytes" : "_accept"
            return """
                \(inlinable)get { _check(\(slot)); return \(name) }
                \(inlinable)set { if let value = \(accept)(newValue, \(slot)) { _touch(\(slot)); \(name) = value } }
                """
        }
    }

    /// The storage of a property; nil for a to-many, whose keys the context holds.
    public func storage(_ property: ModelClass.Property) -> String? { Self.storage(property, isPublic: isPublic) }

    /// The storage of a property; nil for a to-many, whose keys the context holds.
    public static func storage(_ property: ModelClass.Property, isPublic: Bool) -> String? {
        let modifiers = isPublic ? "@usableFromInline internal" : "private"
        let name = Names.storage(property.name)
        switch property.kind {
        case .attribute: return "@exclusivity(unchecked) \(modifiers) final var \(name): \(property.type)"
        case .toOne: return "@exclusivity(unchecked) \(modifiers) final var \(name): Int64?"
        case .toMany, .toManyOrdered: return nil
        }
    }

    private static func hasBytes(_ type: String) -> Bool { ["String", "URL", "Data"].contains(type.replacing("?", with: "")) }

    private func slot(_ property: ModelClass.Property) -> String {
        "_Schema.base + \(model.slots.firstIndex { $0.name == property.name } ?? 0)"
    }

    private func stored(_ property: ModelClass.Property) -> String { property.kind == .toOne ? "Int64?" : property.type }

    private func layout() -> String {
        """
        \(isPublic ? "public " : "")enum _Schema {
            @inlinable \(access)static var base: Int { \(model.superclass)._Schema.end }
            @inlinable \(access)static var end: Int { base + \(model.slots.count) }
        }
        """
    }

    private func entityName() -> String { "\(access)override class var _entityName: String { \(Names.literal(model.entity)) }" }

    private func declaration() -> String {
        var arguments = [Names.literal(model.entity)]
        if model.superclass != "ManagedObject" { arguments.append("parent: \(model.superclass)._entityName") }
        if model.isAbstract { arguments.append("isAbstract: true") }
        let attributes = model.properties.filter { $0.kind == .attribute }.map(attribute)
        let relationships = model.properties.filter { $0.kind != .attribute }.map(relationship)
        if !attributes.isEmpty {
            arguments.append("attributes: [\n            \(attributes.joined(separator: ",\n            "))\n        ]")
        }
        if !relationships.isEmpty {
            arguments.append("relationships: [\n            \(relationships.joined(separator: ",\n            "))\n        ]")
        }
        if !model.indexes.isEmpty { arguments.append("indexes: [\(model.indexes.map(index).joined(separator: ", "))]") }
        if !model.uniqueConstraints.isEmpty {
            arguments.append(
                "uniqueConstraints: [\(model.uniqueConstraints.map { "UniqueConstraint(\(list($0)))" }.joined(separator: ", "))]")
        }
        if let name = model.originalName { arguments.append("originalName: \(Names.literal(name))") }
        return """
            \(access)override class var declaration: Entity {
                Entity(\(arguments.joined(separator: ", ")))
            }
            """
    }

    private func index(_ index: Index) -> String {
        var arguments = [list(index.properties)]
        if index.kind != .ordered { arguments.append("kind: .\(index.kind.rawValue)") }
        if let condition = index.condition { arguments.append("where: \(Names.literal(condition))") }
        return "Index(\(arguments.joined(separator: ", ")))"
    }

    private func list(_ names: [String]) -> String { "[\(names.map(Names.literal).joined(separator: ", "))]" }

    private func attribute(_ property: ModelClass.Property) -> String {
        let type = property.type.hasSuffix("?") ? "Optional<\(property.type.dropLast())>" : property.type
        var arguments = [Names.literal(property.key), property.valueType.map { ".\($0)" } ?? "\(type).valueType"]
        if let valueType = property.valueType, !valueType.isEmpty {
            if property.type.hasSuffix("?") { arguments.append("isOptional: true") }
        } else {
            arguments.append("isOptional: \(type).isOptionalAttribute")
        }
        if let value = property.defaultValue, value != "nil", !property.isInitialPerObject {
            arguments.append("defaultValue: (\(value) as \(property.type)).attributeValue")
        }
        if property.valueType == nil { arguments.append("allowedValues: \(type).allowedValues") }
        if !property.allowedValues.isEmpty { arguments.append("allowedValues: [\(property.allowedValues.joined(separator: ", "))]") }
        if property.valueType == nil { arguments.append("coder: \(type).coderName") }
        if let coder = property.coder { arguments.append("coder: \(Names.literal(coder))") }
        if !property.rules.isEmpty { arguments.append("rules: AttributeRules(\(property.rules.joined(separator: ", ")))") }
        if !property.crossReference.isEmpty {
            arguments.append("crossReference: CrossReference(\(property.crossReference.joined(separator: ", ")))")
        }
        if let history = property.history { arguments.append("history: .\(history)") }
        if let name = property.originalName { arguments.append("originalName: \(Names.literal(name))") }
        return "Attribute(\(arguments.joined(separator: ", ")))"
    }

    private func relationship(_ property: ModelClass.Property) -> String {
        let kind = property.kind == .toOne ? "toOne" : (property.kind == .toMany ? "toMany" : "toManyOrdered")
        var arguments = [
            Names.literal(property.key), "to: \(property.destination.map(Names.literal) ?? "\(property.type)._entityName")",
            ".\(kind)",
        ]
        if property.isRequired { arguments.append("isOptional: false") }
        if let inverse = property.inverse { arguments.append("inverse: \(inverse.hasPrefix("\\") ? inverse : Names.literal(inverse))") }
        if property.deleteRule != "nullify" { arguments.append("deleteRule: .\(property.deleteRule)") }
        arguments += property.counts
        if let name = property.originalName { arguments.append("originalName: \(Names.literal(name))") }
        return "Relationship(\(arguments.joined(separator: ", ")))"
    }

    private func slotNames() -> String {
        "\(access)override class var _slotNames: [String] { super._slotNames + \(list(model.slots.map(\.key))) }"
    }

    private func decode(_ property: ModelClass.Property, _ context: String) -> String {
        "\(Names.storage(property.name)) = Self._decode(\(stored(property).hasSuffix("?") ? "Optional<\(stored(property).dropLast())>" : stored(property)).self, row, \(slot(property)), \(context))"
    }

    private func block(_ header: String, _ lines: [String]) -> String {
        "\(access)\(header) {\n\(lines.map { "    \($0)\n" }.joined())}"
    }

    private func rowInit() -> String {
        block(
            "required init(_row row: borrowing RowView, _ context: borrowing ObjectContext)",
            model.slots.map { decode($0, "context") } + ["super.init(_row: row, context)"])
    }

    private func newInit() -> String {
        let defaults = model.slots.map { property in
            let value =
                property.kind == .toOne
                ? "nil" : property.defaultValue ?? (property.type.hasSuffix("?") ? "nil" : "\(property.type).placeholder")
            return "\(Names.storage(property.name)) = \(value)"
        }
        return block(
            "required init(_new key: Int64, _ entity: EntityIndex, _ context: borrowing ObjectContext)",
            defaults + ["super.init(_new: key, entity, context)"])
    }

    private func reload() -> String {
        let lines = model.slots.map { "if Self._has(mask, \(slot($0))) { \(decode($0, "_context")) }" }
        return block("override func _reload(_ row: borrowing RowView, _ mask: UInt64)", ["super._reload(row, mask)"] + lines)
    }

    private func encode() -> String {
        let lines = model.slots.map { property in
            "if Self._has(mask, \(slot(property))) { cells[\(slot(property))] = \(Names.storage(property.name))._encode(batch) }"
        }
        return block(
            "override func _encode(_ cells: UnsafeMutablePointer<Cell>, _ batch: RowBatch, _ mask: UInt64)",
            ["super._encode(cells, batch, mask)"] + lines)
    }

    private func reference() -> String {
        let cases = model.slots.filter { $0.kind == .toOne }.map { "case \(slot($0)): return \(Names.storage($0.name))" }
        return block(
            "override func _reference(_ slot: Int) -> Int64?", ["switch slot {"] + cases + ["default: return super._reference(slot)", "}"])
    }

    private func setReference() -> String {
        let cases = model.slots.filter { $0.kind == .toOne }.map { "case \(slot($0)): \(Names.storage($0.name)) = key" }
        return block(
            "override func _setReference(_ slot: Int, _ key: Int64?)",
            ["switch slot {"] + cases + ["default: super._setReference(slot, key)", "}"])
    }

    private var isRoot: Bool { model.superclass == "ManagedObject" }

    private func snapshotType(_ property: ModelClass.Property) -> String {
        property.kind == .toOne ? "ObjectID<\(property.type)>?" : property.type
    }

    private func snapshot() -> String {
        var lines =
            isRoot
            ? ["\(access)let objectID: ObjectID<\(model.name)>", "\(access)let version: Int64"]
            : [
                "\(access)let _super: \(model.superclass).Snapshot",
                "\(access)subscript<V>(dynamicMember path: KeyPath<\(model.superclass).Snapshot, V>) -> V { _super[keyPath: path] }",
            ]
        lines += model.slots.map { "\(access)let \(Names.swift($0.name)): \(snapshotType($0))" }
        var values =
            isRoot ? ["objectID = object.objectID", "version = object.version"] : ["_super = \(model.superclass).Snapshot(object)"]
        values += model.slots.map { property in
            property.kind == .toOne
                ? "\(Names.swift(property.name)) = object._target(object.\(Names.storage(property.name)), \(slot(property)), \(property.type).self)"
                : "\(Names.swift(property.name)) = object.\(Names.swift(property.name))"
        }
        lines.append("\(access)init(_ object: \(model.name)) {")
        lines += values.map { "    \($0)" } + ["}"]
        return (isRoot ? "" : "@dynamicMemberLookup\n") + block("struct Snapshot: Sendable", lines)
    }
}
