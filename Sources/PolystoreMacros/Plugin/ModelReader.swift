#if Macros
internal import PolystoreModelCode
internal import PolystoreSchema
internal import SwiftSyntax

/// Reads a class declaration into the description that the expansion needs.
struct ModelReader {
    /// The result of reading: the class and its errors.
    struct Reading {
        var model: ModelClass
        var problems: [ModelProblem] = []
    }

    private let node: AttributeSyntax
    private let declaration: ClassDeclSyntax
    private let superclass: String

    init(_ node: AttributeSyntax, _ declaration: some DeclGroupSyntax) throws(ModelProblem) {
        guard let declaration = declaration.as(ClassDeclSyntax.self) else { throw ModelProblem(node, "@Model requires a class") }
        guard let superclass = declaration.inheritanceClause?.inheritedTypes.first?.type.trimmedDescription else {
            throw ModelProblem(declaration.name, "a class with @Model requires a superclass: ManagedObject, or another model class")
        }
        self.node = node
        self.declaration = declaration
        self.superclass = superclass.hasSuffix(".ManagedObject") ? "ManagedObject" : superclass
    }

    /// Returns the class with the properties that have no errors.
    func read() -> Reading {
        let arguments = Arguments(node)
        var reading = Reading(
            model: ModelClass(
                declaration.name.text.unquoted, superclass: superclass, access: Access(declaration.modifiers).ofMembers,
                isAbstract: arguments["abstract"]?.trimmedDescription == "true"))
        func attempt(_ body: () throws(ModelProblem) -> Void) {
            do throws(ModelProblem) { try body() } catch { reading.problems.append(error) }
        }
        attempt { () throws(ModelProblem) in
            reading.model.entity = try arguments.text("entity") ?? reading.model.name
            _ = try arguments.flag("abstract")
            reading.model.originalName = try arguments.text("originalName")
            reading.model.indexes = try IndexReader.indexes(of: node)
        }
        for member in declaration.memberBlock.members {
            attempt { () throws(ModelProblem) in
                if let variable = member.decl.as(VariableDeclSyntax.self) {
                    guard let read = try PropertyReader(variable).read() else { return }
                    reading.model.properties.append(read.property)
                    if read.isUnique { reading.model.uniqueConstraints.append([read.property.key]) }
                    if read.isIndexed { reading.model.indexes.append(Index([read.property.key])) }
                } else if let initializer = member.decl.as(InitializerDeclSyntax.self) {
                    try Self.check(initializer)
                } else if let block = member.decl.as(IfConfigDeclSyntax.self) {
                    try Self.check(block)
                }
            }
        }
        attempt { () throws(ModelProblem) in
            // The properties that a class inherits are not part of its text: the model is checked when the program opens a stack.
            let isComplete = superclass == "ManagedObject" && reading.problems.isEmpty
            reading.model.uniqueConstraints += try UniqueReader(isComplete ? reading.model : nil).constraints(in: arguments["unique"])
        }
        return reading
    }

    /// Refuses designated initialisers. The store creates objects with two initialisers that are part of the expansion.
    private static func check(_ initializer: InitializerDeclSyntax) throws(ModelProblem) {
        if initializer.modifiers.contains(where: { $0.name.text == "convenience" }) { return }
        throw ModelProblem(
            initializer.initKeyword,
            "a model class cannot have a designated initialiser: create objects with transaction.create and assign their properties, or "
                + "declare a convenience init that calls self.init(context:)")
    }

    /// Refuses stored properties inside `#if`, because a macro cannot determine which branch is compiled.
    private static func check(_ block: IfConfigDeclSyntax) throws(ModelProblem) {
        for clause in block.clauses {
            guard case .decls(let members)? = clause.elements else { continue }
            for member in members {
                if let inner = member.decl.as(IfConfigDeclSyntax.self) { try check(inner) }
                guard let variable = member.decl.as(VariableDeclSyntax.self), let read = try PropertyReader(variable).read() else {
                    continue
                }
                throw ModelProblem(
                    variable.bindings,
                    "\(read.property.name) must be declared outside of #if: a macro cannot determine which branch is compiled")
            }
        }
    }
}

extension String {
    /// The name without backticks.
    var unquoted: String { hasPrefix("`") && hasSuffix("`") && count > 2 ? String(dropFirst().dropLast()) : self }
}
#endif
