#if Macros
internal import PolystoreModelCode
internal import PolystoreSchema
internal import SwiftDiagnostics
public import SwiftSyntax
internal import SwiftSyntaxBuilder
public import SwiftSyntaxMacros

/// The macro `@Model`. It adds members to the class from the expansion that the generator uses as well.
public struct ModelMacro: MemberMacro, MemberAttributeMacro {
    /// Expands the macro.
    public static func expansion(
        of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax, conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        func tell(_ problem: ModelProblem) {
            let repairs = problem.repair.map {
                FixIt.replace(message: MacroExpansionFixItMessage($0.message), oldNode: $0.old, newNode: $0.new)
            }
            context.diagnose(
                Diagnostic(
                    node: problem.node, message: MacroExpansionErrorMessage(problem.message), fixIts: repairs.map { [$0] } ?? []))
        }
        do throws(ModelProblem) {
            let reading = try ModelReader(node, declaration).read()
            reading.problems.forEach(tell)
            return ModelExpansion(reading.model, isBroken: !reading.problems.isEmpty).members().map { "\(raw: $0)" }
        } catch {
            tell(error)
            return []
        }
    }

    /// Expands the macro. Reports no errors, because the expansion of the members reports each of them once.
    public static func expansion(
        of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax, providingAttributesFor member: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [AttributeSyntax] {
        guard let variable = member.as(VariableDeclSyntax.self), let reader = try? ModelReader(node, declaration),
            let property = (try? PropertyReader(variable).read())?.property
        else { return [] }
        let model = reader.read().model
        let slots = model.properties.filter { $0.kind == .attribute } + model.properties.filter { $0.kind == .toOne }
        guard model.properties.contains(where: { $0.name == property.name }) else { return [] }
        let slot = slots.firstIndex { $0.name == property.name } ?? 0
        let isIndexed = (model.indexes.filter { $0.kind == .ordered }.map(\.properties) + model.uniqueConstraints).contains {
            $0.contains(property.key)
        }
        let isPublic = model.access == "public" && property.access == "public"
        let inlining: ModelExpansion.Inlining = isPublic ? (Access(variable.modifiers).hidesSetter ? .getter : .both) : .none
        return [
            """
            @_Stored(slot: \(raw: slot), key: \(literal: property.key), kind: "\(raw: property.kind)", type: "\(raw: property.type)", \
            indexed: \(raw: isIndexed), inlined: "\(raw: inlining.rawValue)")
            """
        ]
    }
}
#endif
