#if Macros
internal import PolystoreModelCode
internal import PolystoreSchema
internal import SwiftSyntax

/// Reads a class declaration into the description that the expansion needs.
struct ModelReader {
    private let node: AttributeSyntax
    private let declaration: ClassDeclSyntax
    private let superclass: String

    init(_ node: AttributeSyntax, _ declaration: some DeclGroupSyntax) throws {
        guard let declaration = declaration.as(ClassDeclSyntax.self) else { throw ModelProblem("@Model needs a class") }
        guard let superclass = declaration.inheritanceClause?.inheritedTypes.first?.type.trimmedDescription else {
            throw ModelProblem("@Model needs a superclass: ManagedObject, or another model class")
        }
        self.node = node
        self.declaration = declaration
        self.superclass = superclass
    }

    func model() throws -> ModelClass {
        let arguments = Arguments(node)
        let isPublic = declaration.modifiers.contains { ["public", "open"].contains($0.name.text) }
        var model = ModelClass(
            declaration.name.text, entity: arguments.text("entity"), superclass: superclass, access: isPublic ? "public" : "",
            isAbstract: arguments["abstract"] == "true")
        model.indexes = try IndexReader.indexes(of: node)
        for member in declaration.memberBlock.members {
            guard let variable = member.decl.as(VariableDeclSyntax.self), let property = try property(variable) else { continue }
            let options = marker("Attribute", variable).map { Arguments($0).unlabelled } ?? []
            if options.contains(".unique") { model.uniqueConstraints.append([property.key]) }
            if options.contains(".indexed") { model.indexes.append(Index([property.key])) }
            var own = property
            own.isIndexed = options.contains(".unique") || options.contains(".indexed")
            model.properties.append(own)
        }
        return model
    }

    /// The property that a variable declares; nil for static, computed and transient ones.
    func property(_ variable: VariableDeclSyntax) throws -> ModelClass.Property? {
        guard let binding = variable.bindings.first, let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.text,
            binding.accessorBlock == nil, marker("Transient", variable) == nil,
            !variable.modifiers.contains(where: { ["static", "class", "lazy", "weak", "unowned"].contains($0.name.text) })
        else {
            if variable.bindings.first?.accessorBlock?.trimmedDescription.contains("didSet") == true {
                throw ModelProblem("a stored property of a model cannot have observers; mark it @Transient or observe elsewhere")
            }
            return nil
        }
        if variable.bindings.count > 1 { throw ModelProblem("declare \(name) and what follows it each with a var of its own") }
        if ModelClass.isTaken(name) {
            throw ModelProblem("every object has a \(name) already: give the property another name, and @Attribute(key: \"\(name)\")")
        }
        guard variable.bindingSpecifier.text == "var" else { throw ModelProblem("\(name) must be a var: a let cannot be loaded") }
        guard let type = binding.typeAnnotation?.type.trimmedDescription else {
            throw ModelProblem("\(name) needs a type annotation: a macro does not see inferred types")
        }
        return try property(name, type, binding.initializer?.value.trimmedDescription, variable)
    }

    private func property(
        _ name: String, _ type: String, _ initial: String?, _ variable: VariableDeclSyntax
    ) throws -> ModelClass.Property {
        let relationship = marker("Relationship", variable).map(Arguments.init)
        let attribute = marker("Attribute", variable).map(Arguments.init)
        if type.hasPrefix("Set<") || relationship != nil {
            let (kind, destination) = try Self.target(type, name)
            var property = ModelClass.Property(
                name, key: relationship?.text("key"), kind: kind, type: destination,
                inverse: relationship?["inverse"].map { String($0.split(separator: ".").last ?? "") },
                deleteRule: relationship?["deleteRule"].map { String($0.drop { $0 == "." }) } ?? "nullify",
                isRequired: relationship?["required"] == "true", originalName: relationship?.text("originalName"))
            property.counts = ["minCount", "maxCount"].compactMap { label in relationship?[label].map { "\(label): \($0)" } }
            return property
        }
        var property = ModelClass.Property(
            name, key: attribute?.text("key"), type: type, defaultValue: initial, originalName: attribute?.text("originalName"))
        for option in attribute?.unlabelled ?? [] { Self.apply(option, to: &property) }
        if let destination = Self.referenced(type) { property.crossReference.insert("to: \(destination)._entityName", at: 0) }
        return property
    }

    /// What an option says of a property: `.minimum(0)` is the rule `minimum: (0 as Int).attributeValue`.
    private static func apply(_ option: String, to property: inout ModelClass.Property) {
        guard let open = option.firstIndex(of: "("), option.hasSuffix(")") else {
            switch option.drop(while: { $0 == "." }) {
            case "dynamicInitialValue": property.isInitialPerObject = true
            case "preservedInHistory": property.history = "preserved"
            case "excludedFromHistory": property.history = "excluded"
            default: break
            }
            return
        }
        let name = option[..<open].drop { $0 == "." }, argument = option[option.index(after: open)...].dropLast()
        switch name {
        case "minimum", "maximum": property.rules.append("\(name): (\(argument) as \(property.type)).attributeValue")
        case "minLength", "maxLength", "pattern": property.rules.append("\(name): \(argument)")
        case "deleteRule", "inverseDeleteRule": property.crossReference.append("\(name): \(argument)")
        default: break
        }
    }

    /// The class at the other end of a reference into another store.
    private static func referenced(_ type: String) -> String? {
        let plain = type.hasSuffix("?") ? type.dropLast() : Substring(type)
        guard plain.hasPrefix("ObjectID<"), plain.hasSuffix(">") else { return nil }
        return String(plain.dropFirst("ObjectID<".count).dropLast())
    }

    private static func target(_ type: String, _ name: String) throws -> (ModelClass.Property.Kind, String) {
        if type.hasSuffix("?") { return (.toOne, String(type.dropLast())) }
        if type.hasPrefix("Set<"), type.hasSuffix(">") { return (.toMany, String(type.dropFirst(4).dropLast())) }
        if type.hasPrefix("["), type.hasSuffix("]") { return (.toManyOrdered, String(type.dropFirst().dropLast())) }
        throw ModelProblem("the relationship \(name) needs the type T?, Set<T> or [T]")
    }

    private func marker(_ name: String, _ variable: VariableDeclSyntax) -> AttributeSyntax? {
        variable.attributes.compactMap { $0.as(AttributeSyntax.self) }.first { $0.attributeName.trimmedDescription == name }
    }
}

/// The arguments of an attribute, by label.
struct Arguments {
    private var labelled: [String: String] = [:]
    private(set) var unlabelled: [String] = []

    init(_ node: AttributeSyntax) {
        for argument in node.arguments?.as(LabeledExprListSyntax.self) ?? [] {
            let text = argument.expression.trimmedDescription
            if let label = argument.label?.text { labelled[label] = text } else { unlabelled.append(text) }
        }
    }

    subscript(label: String) -> String? { labelled[label] }

    /// The text of a string literal.
    func text(_ label: String) -> String? {
        guard let literal = labelled[label], literal.hasPrefix("\""), literal.hasSuffix("\"") else { return nil }
        return String(literal.dropFirst().dropLast())
    }
}

/// What is wrong with a model class; the compiler shows it at the attribute.
struct ModelProblem: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
#endif
