#if Macros
internal import PolystoreModelCode
internal import PolystoreSchema
internal import SwiftDiagnostics
public import SwiftSyntax
internal import SwiftSyntaxBuilder
public import SwiftSyntaxMacros

/// The macro that adds the accessors and the storage of one property.
public struct StoredMacro: AccessorMacro, PeerMacro {
    private static func parts(
        _ node: AttributeSyntax, _ declaration: some DeclSyntaxProtocol
    ) throws(ModelProblem) -> (property: ModelClass.Property, slot: Int, inlining: ModelExpansion.Inlining)? {
        guard let variable = declaration.as(VariableDeclSyntax.self),
            let name = variable.bindings.first?.pattern.as(IdentifierPatternSyntax.self)?.identifier.text.unquoted
        else { return nil }
        let arguments = Arguments(node)
        let kinds: [String: ModelClass.Property.Kind] = ["toOne": .toOne, "toMany": .toMany, "toManyOrdered": .toManyOrdered]
        let property = ModelClass.Property(
            name, key: try arguments.text("key"), kind: kinds[try arguments.text("kind") ?? ""] ?? .attribute,
            type: try arguments.text("type") ?? "", isIndexed: try arguments.flag("indexed"))
        let inlining = ModelExpansion.Inlining(rawValue: try arguments.text("inlined") ?? "") ?? .none
        return (property, arguments["slot"].flatMap { Int($0.trimmedDescription) } ?? 0, inlining)
    }

    /// Expands the macro.
    public static func expansion(
        of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol, in context: some MacroExpansionContext
    ) throws -> [AccessorDeclSyntax] {
        guard let (property, slot, inlining) = try? parts(node, declaration) else { return [] }
        let place = context.location(of: declaration, at: .afterLeadingTrivia, filePathMode: .filePath)
        let check = property.kind == .attribute ? TypeCheck(property.type) : nil
        return ModelExpansion.accessors(property, slot: slot, inlining).split(separator: "\n").map { accessor in
            "\(raw: placing(accessor, with: check, at: place))"
        }
    }

    /// Returns a setter whose statements are at the place of the property for the compiler, so that a type which cannot be stored is
    /// diagnosed there. A macro sees the names of types, and not whether they are classes.
    private static func placing(_ accessor: Substring, with check: TypeCheck?, at place: AbstractSourceLocation?) -> String {
        guard let start = accessor.firstRange(of: "set { ")?.upperBound else { return String(accessor) }
        let header = String(accessor[..<start]) + (check.map { "\n\($0.start)" } ?? "")
        var body = accessor[start...].dropLast(2)
        if let check { body = "\(check.end); \(body.replacing(" _accept(", with: " _acceptChecked("))" }
        // The compiler refuses a raw literal, as that of a path with a quotation mark is.
        guard let place, !place.file.trimmedDescription.hasPrefix("#") else { return "\(header)\n\(body)\n}" }
        return """
            \(header)
            #sourceLocation(file: \(place.file), line: \(place.line))
            \(body)
            #sourceLocation()
            }
            """
    }

    /// Expands the macro.
    public static func expansion(
        of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol, in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        guard let (property, _, inlining) = try? parts(node, declaration) else { return [] }
        return ModelExpansion.storage(property, inlining).map { ["\(raw: $0)"] } ?? []
    }
}
#endif
