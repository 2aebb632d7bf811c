#if Macros
internal import PolystoreModelCode
internal import PolystoreSchema
internal import SwiftParser
internal import SwiftSyntax
internal import SwiftSyntaxBuilder

/// Reads the declaration of a property of a model class.
struct PropertyReader {
    /// The result of reading a stored property.
    struct Reading {
        var property: ModelClass.Property
        var isUnique = false
        var isIndexed = false
    }

    private let variable: VariableDeclSyntax

    init(_ variable: VariableDeclSyntax) { self.variable = variable }

    /// Returns the property, or nil if it is static, computed, or transient.
    func read() throws(ModelProblem) -> Reading? {
        guard let binding = variable.bindings.first, marker("Transient") == nil,
            !variable.modifiers.contains(where: { ["static", "class", "lazy", "weak", "unowned"].contains($0.name.text) })
        else { return nil }
        if let accessors = binding.accessorBlock {
            guard case .accessors(let list) = accessors.accessors,
                list.contains(where: { ["willSet", "didSet"].contains($0.accessorSpecifier.text) })
            else { return nil }
            throw ModelProblem(
                variable.bindings,
                "a stored property of a model cannot have observers; mark it @Transient, or observe the object with a publisher")
        }
        guard let identifier = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier else {
            throw ModelProblem(variable.bindings, "declare each property of a model with a separate var")
        }
        let name = identifier.text.unquoted
        if variable.bindings.count > 1 {
            throw ModelProblem(variable.bindings, "declare \(name) and the properties after it each with a separate var")
        }
        if ModelClass.isTaken(name) {
            throw ModelProblem(
                identifier, "every object already has a property \(name): give the property another name, and @Attribute(key: \"\(name)\")")
        }
        guard variable.bindingSpecifier.text == "var" else {
            throw ModelProblem(variable.bindingSpecifier, "\(name) must be a var: a let cannot be loaded from the store")
        }
        guard let type = binding.typeAnnotation?.type ?? binding.initializer.flatMap({ ModelType.inferred(from: $0.value) }) else {
            throw ModelProblem(
                identifier,
                "\(name) requires a type annotation: a macro can infer the type of a literal and of a value such as Date(), and no other")
        }
        try Self.check(type, of: name, isRelationship: marker("Relationship") != nil)
        try Self.checkOptional(binding, ModelType(type), of: name, isRelationship: marker("Relationship") != nil)
        var reading = try property(name, ModelType(type), binding.initializer?.value)
        reading.property.access = Access(variable.modifiers).written.replacing("open", with: "public")
        reading.property.isIndexed = reading.isUnique || reading.isIndexed
        return reading
    }

    /// Refuses a type that can be neither an attribute nor a relationship, as far as its text shows.
    private static func check(_ written: TypeSyntax, of name: String, isRelationship: Bool) throws(ModelProblem) {
        let type = ModelType(written)
        if ModelType.isFunctionOrTuple(written) {
            throw ModelProblem(
                written,
                "\(name) has a type that cannot be stored: use several properties or a CodedAttributeValue, or mark it @Transient")
        }
        if let element = type.setOfValues {
            throw ModelProblem(
                written,
                "\(name) cannot be a Set of \(element), which is not a model class: use an array, [\(element)], or a Codable value that "
                    + "conforms to CodedAttributeValue")
        }
        if isRelationship, let (_, destination) = type.relationship, ModelType.isValue(destination) {
            throw ModelProblem(
                written,
                "the relationship \(name) cannot have the destination \(destination), which is not a model class: remove @Relationship")
        }
    }

    /// Refuses an optional to-many relationship. An optional list without the marker may be an attribute.
    private static func checkOptional(
        _ binding: PatternBindingSyntax, _ type: ModelType, of name: String, isRelationship: Bool
    ) throws(ModelProblem) {
        guard let plain = type.optionalToMany, isRelationship || plain.hasPrefix("Set<"), let written = binding.typeAnnotation?.type else {
            return
        }
        var repaired = binding
        repaired.typeAnnotation?.type = "\(raw: plain)"
        repaired.typeAnnotation?.type.trailingTrivia = written.trailingTrivia
        if binding.initializer?.value.is(NilLiteralExprSyntax.self) == true { repaired.initializer?.value = "[]" }
        throw ModelProblem(
            written,
            "the relationship \(name) cannot be optional: without objects it is empty, and not nil; write \(plain)",
            repair: .init(old: Syntax(binding), new: Syntax(repaired), message: "write \(plain)"))
    }

    private func property(_ name: String, _ type: ModelType, _ initial: ExprSyntax?) throws(ModelProblem) -> Reading {
        if let relationship = marker("Relationship").map(Arguments.init) ?? (type.isSet ? Arguments() : nil) {
            return Reading(property: try self.relationship(name, type, relationship))
        }
        let attribute = marker("Attribute").map(Arguments.init) ?? Arguments()
        var property = ModelClass.Property(
            name, key: try attribute.text("key"), type: type.text, defaultValue: initial?.trimmedDescription,
            originalName: try attribute.text("originalName"))
        property.isInitialPerObject = initial.map { InitialValue($0, of: type.wrapped).isPerObject } ?? false
        var reading = Reading(property: property)
        for option in attribute.unlabelled { try Self.apply(option, to: &reading) }
        if let destination = type.referenced {
            reading.property.crossReference.insert("to: _entityName(_Type<\(destination)>.self)", at: 0)
        }
        return reading
    }

    private func relationship(_ name: String, _ type: ModelType, _ arguments: Arguments) throws(ModelProblem) -> ModelClass.Property {
        guard let (kind, destination) = type.relationship else {
            throw ModelProblem(variable.bindings, "the relationship \(name) must have the type T?, Set<T> or [T]")
        }
        var inverse: String?
        if let expression = arguments["inverse"] {
            guard let path = expression.as(KeyPathExprSyntax.self),
                path.components.last?.component.is(KeyPathPropertyComponentSyntax.self) == true
            else {
                throw ModelProblem(expression, "inverse must be a key path, such as \\Dog.owner: a macro cannot evaluate names")
            }
            inverse = path.trimmedDescription
        }
        var property = ModelClass.Property(
            name, key: try arguments.text("key"), kind: kind, type: destination, inverse: inverse,
            deleteRule: try arguments.name("deleteRule") ?? "nullify", isRequired: try arguments.flag("required"),
            originalName: try arguments.text("originalName"))
        property.counts = ["minCount", "maxCount"].compactMap { label in arguments[label].map { "\(label): \($0.trimmedDescription)" } }
        return property
    }

    /// Applies an option to a property: `.minimum(0)` becomes the rule `minimum: (0 as Int).attributeValue`.
    private static func apply(_ option: ExprSyntax, to reading: inout Reading) throws(ModelProblem) {
        let call = option.as(FunctionCallExprSyntax.self)
        let name = (call?.calledExpression ?? option).as(MemberAccessExprSyntax.self)?.declName.baseName.text
        let argument = call?.arguments.first?.expression.trimmedDescription ?? ""
        switch name {
        case "unique": reading.isUnique = true
        case "indexed": reading.isIndexed = true
        case "dynamicInitialValue": reading.property.isInitialPerObject = true
        case "preservedInHistory": reading.property.history = "preserved"
        case "excludedFromHistory": reading.property.history = "excluded"
        case "minimum", "maximum":
            reading.property.rules.append("\(name ?? ""): (\(argument) as \(reading.property.type)).attributeValue")
        case "minLength", "maxLength", "pattern": reading.property.rules.append("\(name ?? ""): \(argument)")
        case "deleteRule", "inverseDeleteRule": reading.property.crossReference.append("\(name ?? ""): \(argument)")
        case let name?:
            throw ModelProblem(option, "@Attribute has no option .\(name)\(Suggestion.nearestOrAll(name, of: options))")
        case nil: throw ModelProblem(option, "an option must be a literal case, such as .unique: a macro cannot evaluate names")
        }
    }

    private static let options = [
        "unique", "indexed", "minimum", "maximum", "minLength", "maxLength", "pattern", "dynamicInitialValue", "preservedInHistory",
        "excludedFromHistory", "deleteRule", "inverseDeleteRule",
    ]

    private func marker(_ name: String) -> AttributeSyntax? {
        variable.attributes.lazy.compactMap { $0.as(AttributeSyntax.self) }.first { attribute in
            let written = attribute.attributeName
            return written.as(MemberTypeSyntax.self)?.name.text == name || written.trimmedDescription == name
        }
    }
}

extension Arguments {
    /// Creates an empty list of arguments.
    fileprivate init() { self.init(AttributeSyntax(attributeName: IdentifierTypeSyntax(name: .identifier("_")))) }
}
#endif
