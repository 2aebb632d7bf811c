internal import PolystoreSchema

/// The expansion of a model class, shared by the macro, which adds it to the class, and the generator, which writes it to a file.
///
/// A property can have the name of a class or of another type, and where an expression is expected Swift would resolve the name to the
/// property. Types are therefore named only where Swift accepts nothing but a type, by type aliases of `ManagedObject`, and are inferred
/// elsewhere.
package struct ModelExpansion {
    /// The accessors of a property that other modules may inline.
    package enum Inlining: String, Sendable {
        /// No accessor, because the class or the property is not public.
        case none
        /// Only the getter, because the setter is not public.
        case getter
        /// Both accessors.
        case both
    }

    private let model: ModelClass
    private let access: String
    private let isPublic: Bool
    private let isBroken: Bool

    /// Creates the expansion of a class.
    ///
    /// - Parameter isBroken: Whether a property with an error was omitted. The expansion then avoids further errors about it.
    package init(_ model: ModelClass, isBroken: Bool = false) {
        self.model = model
        self.isBroken = isBroken
        isPublic = model.access == "public"
        access = model.access.isEmpty ? "" : model.access + " "
    }

    /// Returns the members of the class other than its properties.
    package func members() -> [String] {
        [layout(), entityName(), declaration(), slotNames()]
            + (model.slots.contains(where: \.isInitialPerObject) ? [initialSlots()] : [])
            + [rowInit(), newInit(), reload(), encode()]
            + (model.slots.contains { $0.kind == .toOne } ? [reference(), setReference()] : [])
            + [snapshot()]
    }

    /// Returns the accessors of a property, without braces.
    package func accessors(_ property: ModelClass.Property) -> String {
        Self.accessors(property, slot: model.slots.firstIndex { $0.name == property.name } ?? 0, inlining)
    }

    private var inlining: Inlining { isPublic ? .both : .none }

    /// Returns the accessors of a property whose slot is known.
    package static func accessors(_ property: ModelClass.Property, slot: Int, _ inlining: Inlining) -> String {
        let getter = inlining == .none ? "" : "@inlinable ", setter = inlining == .both ? "@inlinable " : ""
        let name = Names.storage(property.name), slot = "_Schema.base + \(slot)", key = Names.literal(property.key)
        switch property.kind {
        case .toMany:
            return "get { _set(\(key)) }\nset { _setMany(\(key), newValue) }"
        case .toManyOrdered:
            return "get { _list(\(key)) }\nset { _setMany(\(key), newValue) }"
        case .toOne:
            return "get { _one(\(slot), \(name)) }\nset { _setOne(\(slot), newValue) }"
        case .attribute:
            // The type of the macro's property allows only its values; that of a generated one is the type of the stored values.
            let isLimited = !property.allowedValues.isEmpty || property.isIndexed && Self.hasBytes(property.type)
            let accept = isLimited ? "_acceptBytes" : "_accept"
            return """
                \(getter)get { _check(\(slot)); return \(name) }
                \(setter)set { if let value = \(accept)(newValue, \(slot)) { _touch(\(slot)); \(name) = value } }
                """
        }
    }

    /// Returns the storage of a property, or nil for a to-many relationship, whose keys the context stores.
    package func storage(_ property: ModelClass.Property) -> String? { Self.storage(property, inlining) }

    /// Returns the storage of a property, or nil for a to-many relationship, whose keys the context stores.
    package static func storage(_ property: ModelClass.Property, _ inlining: Inlining) -> String? {
        let modifiers = inlining == .none ? "private" : "@usableFromInline internal"
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

    private func layout() -> String {
        """
        \(access)enum _Schema {
            \(access)typealias _Super = \(model.superclass)
            @inlinable \(access)static var base: Int { _Super._Schema.end }
            @inlinable \(access)static var end: Int { base + \(model.slots.count) }
        }
        """
    }

    private func entityName() -> String { "\(access)override class var _entityName: String { \(Names.literal(model.entity)) }" }

    private func declaration() -> String {
        var arguments = [Names.literal(model.entity)]
        if model.superclass != "ManagedObject" { arguments.append("parent: super._entityName") }
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
                "uniqueConstraints: [\(model.uniqueConstraints.map { "_UniqueConstraint(\(list($0)))" }.joined(separator: ", "))]")
        }
        if let name = model.originalName { arguments.append("originalName: \(Names.literal(name))") }
        return """
            \(access)override class var declaration: _Entity {
                _Entity(\(arguments.joined(separator: ", ")))
            }
            """
    }

    private func index(_ index: Index) -> String {
        var arguments = [list(index.properties)]
        if index.kind != .ordered { arguments.append("kind: .\(index.kind.rawValue)") }
        if let condition = index.condition { arguments.append("where: \(Names.literal(condition))") }
        return "_Index(\(arguments.joined(separator: ", ")))"
    }

    private func list(_ names: [String]) -> String { "[\(names.map(Names.literal).joined(separator: ", "))]" }

    private func attribute(_ property: ModelClass.Property) -> String {
        var arguments = [Names.literal(property.key), property.valueType.map { ".\($0)" } ?? "_Type<\(property.type)>.self"]
        if property.valueType != nil, property.type.hasSuffix("?") { arguments.append("isOptional: true") }
        if let value = property.defaultValue, value != "nil", !property.isInitialPerObject {
            arguments.append("defaultValue: (\(value) as \(property.type))\(property.valueType == nil ? "" : ".attributeValue")")
        }
        if !property.allowedValues.isEmpty { arguments.append("allowedValues: [\(property.allowedValues.joined(separator: ", "))]") }
        if let coder = property.coder { arguments.append("coder: \(Names.literal(coder))") }
        if !property.rules.isEmpty { arguments.append("rules: _AttributeRules(\(property.rules.joined(separator: ", ")))") }
        if !property.crossReference.isEmpty {
            arguments.append("crossReference: _CrossReference(\(property.crossReference.joined(separator: ", ")))")
        }
        if let history = property.history { arguments.append("history: .\(history)") }
        if let name = property.originalName { arguments.append("originalName: \(Names.literal(name))") }
        return "\(property.valueType == nil ? "_attribute" : "_Attribute")(\(arguments.joined(separator: ", ")))"
    }

    private func relationship(_ property: ModelClass.Property) -> String {
        let kind = property.kind == .toOne ? "toOne" : (property.kind == .toMany ? "toMany" : "toManyOrdered")
        var arguments = [
            Names.literal(property.key), "to: \(property.destination.map(Names.literal) ?? "_entityName(_Type<\(property.type)>.self)")",
            ".\(kind)",
        ]
        if property.isRequired { arguments.append("isOptional: false") }
        if let inverse = property.inverse {
            arguments.append("inverse: \(inverse.hasPrefix("\\") ? "_inverse(\(inverse))" : Names.literal(inverse))")
        }
        if property.deleteRule != "nullify" { arguments.append("deleteRule: .\(property.deleteRule)") }
        arguments += property.counts
        if let name = property.originalName { arguments.append("originalName: \(Names.literal(name))") }
        return "_Relationship(\(arguments.joined(separator: ", ")))"
    }

    private func slotNames() -> String {
        "\(access)override class var _slotNames: [String] { super._slotNames + \(list(model.slots.map(\.key))) }"
    }

    private func initialSlots() -> String {
        let slots = model.slots.filter(\.isInitialPerObject).map(slot).joined(separator: ", ")
        return "\(access)override class var _initialSlots: [Int] { super._initialSlots + [\(slots)] }"
    }

    private func decode(_ property: ModelClass.Property, _ context: String) -> String {
        "\(Names.storage(property.name)) = Self._decode(row, \(slot(property)), \(context))"
    }

    private func block(_ header: String, _ lines: [String]) -> String {
        "\(access)\(header) {\n\(lines.map { "    \($0)\n" }.joined())}"
    }

    private func rowInit() -> String {
        block(
            "required init(_row row: borrowing _RowView, _ context: borrowing _ObjectContext)",
            isBroken ? ["Self._broken()"] : model.slots.map { decode($0, "context") } + ["super.init(_row: row, context)"])
    }

    private func newInit() -> String {
        let defaults = model.slots.map { property in
            let value =
                property.kind == .toOne
                ? "nil" : property.defaultValue ?? (property.type.hasSuffix("?") ? "nil" : "Self._placeholder()")
            return "\(Names.storage(property.name)) = \(value)"
        }
        return block(
            "required init(_new key: Int64, _ entity: _EntityIndex, _ context: borrowing _ObjectContext)",
            isBroken ? ["Self._broken()"] : defaults + ["super.init(_new: key, entity, context)"])
    }

    private func reload() -> String {
        let lines = model.slots.map { "if Self._has(mask, \(slot($0))) { \(decode($0, "_context")) }" }
        return block("override func _reload(_ row: borrowing _RowView, _ mask: UInt64)", ["super._reload(row, mask)"] + lines)
    }

    private func encode() -> String {
        let lines = model.slots.map { property in
            "if Self._has(mask, \(slot(property))) { cells[\(slot(property))] = Self._cell(\(Names.storage(property.name)), batch) }"
        }
        return block(
            "override func _encode(_ cells: UnsafeMutablePointer<_Cell>, _ batch: _RowBatch, _ mask: UInt64)",
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
        property.kind == .toOne ? "_ObjectID<\(property.type)>?" : property.type
    }

    private func snapshot() -> String {
        var lines =
            isRoot
            ? ["\(access)let objectID: _ObjectID<\(model.name)>", "\(access)let version: Int64"]
            : [
                "\(access)let _super: \(model.superclass).Snapshot",
                "\(access)subscript<V>(dynamicMember path: KeyPath<\(model.superclass).Snapshot, V>) -> V { _super[keyPath: path] }",
            ]
        lines += model.slots.map { property in
            let access = property.access.map { $0.isEmpty ? "" : $0 + " " } ?? access
            return "\(access)let \(Names.swift(property.name)): \(snapshotType(property))"
        }
        var values =
            isRoot ? ["objectID = object.objectID", "version = object.version"] : ["_super = .init(object)"]
        values += model.slots.map { property in
            let name = Names.swift(property.name)
            return property.kind == .toOne
                ? "self.\(name) = object._target(object.\(Names.storage(property.name)), \(slot(property)))"
                : "self.\(name) = object.\(name)"
        }
        lines.append("\(access)init(_ object: \(model.name)) {")
        lines += values.map { "    \($0)" } + ["}"]
        // The snapshot contains values of attributes, which are Sendable, and object IDs. The accessors of a property do not compile for
        // any other type, so an error appears in a single location.
        return (isRoot ? "" : "@dynamicMemberLookup\n") + block("struct Snapshot: @unchecked Sendable", lines)
    }
}
