#if Macros
internal import PolystoreModelCode
internal import PolystoreSchema
public import SwiftSyntax
internal import SwiftSyntaxBuilder
public import SwiftSyntaxMacros

/// `@Model`: members of the class from the expansion that the generator shares.
public struct ModelMacro: MemberMacro, MemberAttributeMacro {
    /// Expands the macro.
    public static func expansion(
        of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax, conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        ModelExpansion(try ModelReader(node, declaration).model()).members().map { "\(raw: $0)" }
    }

    /// Expands the macro.
    public static func expansion(
        of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax, providingAttributesFor member: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [AttributeSyntax] {
        let reader = try ModelReader(node, declaration)
        guard let variable = member.as(VariableDeclSyntax.self), let property = try reader.property(variable) else { return [] }
        let model = try reader.model()
        let slots = model.properties.filter { $0.kind == .attribute } + model.properties.filter { $0.kind == .toOne }
        let slot = slots.firstIndex { $0.name == property.name } ?? 0
        let isIndexed = (model.indexes.filter { $0.kind == .ordered }.map(\.properties) + model.uniqueConstraints).contains {
            $0.contains(property.key)
        }
        return [
            """
            @_Stored(slot: \(raw: slot), key: "\(raw: property.key)", kind: "\(raw: property.kind)", type: "\(raw: property.type)", \
            indexed: \(raw: isIndexed))
            """
        ]
    }
}

/// Accessors and storage of one property.
public struct StoredMacro: AccessorMacro, PeerMacro {
    private static func parts(
        _ node: AttributeSyntax, _ declaration: some DeclSyntaxProtocol
    ) -> (property: ModelClass.Property, slot: Int, isPublic: Bool)? {
        guard let variable = declaration.as(VariableDeclSyntax.self),
            let name = variable.bindings.first?.pattern.as(IdentifierPatternSyntax.self)?.identifier.text
        else { return nil }
        let arguments = Arguments(node)
        let kinds: [String: ModelClass.Property.Kind] = ["toOne": .toOne, "toMany": .toMany, "toManyOrdered": .toManyOrdered]
        let property = ModelClass.Property(
            name, key: arguments.text("key"), kind: kinds[arguments.text("kind") ?? ""] ?? .attribute, type: arguments.text("type") ?? "",
            isIndexed: arguments["indexed"] == "true")
        let isPublic = variable.modifiers.contains { ["public", "open"].contains($0.name.text) }
        return (property, arguments["slot"].flatMap { Int($0) } ?? 0, isPublic)
    }

    /// Expands the macro.
    public static func expansion(
        of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol, in context: some MacroExpansionContext
    ) throws -> [AccessorDeclSyntax] {
        guard let (property, slot, isPublic) = parts(node, declaration) else { return [] }
        return ModelExpansion.accessors(property, slot: slot, isPublic: isPublic).split(separator: "\n").map { "\(raw: $0)" }
    }

    /// Expands the macro.
    public static func expansion(
        of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol, in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        guard let (property, _, isPublic) = parts(node, declaration) else { return [] }
        return ModelExpansion.storage(property, isPublic: isPublic).map { ["\(raw: $0)"] } ?? []
    }
}

/// Attributes that only say something to `@Model`.
public struct MarkerMacro: PeerMacro {
    /// Expands the macro.
    public static func expansion(
        of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol, in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] { [] }
}
#endif
