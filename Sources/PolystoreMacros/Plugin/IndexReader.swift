#if Macros
internal import PolystoreSchema
internal import SwiftParser
internal import SwiftSyntax

/// Reads the indexes that `@Model` is given: a macro sees their text, so they are literals.
enum IndexReader {
    static func indexes(of node: AttributeSyntax) throws -> [Index] {
        let arguments = node.arguments?.as(LabeledExprListSyntax.self) ?? []
        guard let argument = arguments.first(where: { $0.label?.text == "indexes" }) else { return [] }
        guard let list = argument.expression.as(ArrayExprSyntax.self) else { throw problem }
        return try list.elements.map { try index($0.expression) }
    }

    private static var problem: ModelProblem {
        ModelProblem("the indexes of a model are literals, such as [Index([\"age\"], where: \"isActive == true\")]")
    }

    private static func index(_ expression: ExprSyntax) throws -> Index {
        guard let call = expression.as(FunctionCallExprSyntax.self), let first = call.arguments.first,
            let properties = first.expression.as(ArrayExprSyntax.self)
        else { throw problem }
        var index = Index(try properties.elements.map { try text($0.expression) })
        for argument in call.arguments.dropFirst() {
            switch argument.label?.text {
            case "where": index.condition = try text(argument.expression)
            case "kind":
                let name = argument.expression.as(MemberAccessExprSyntax.self)?.declName.baseName.text ?? ""
                guard let kind = Index.Kind(rawValue: name) else { throw problem }
                index.kind = kind
            default: throw problem
            }
        }
        return index
    }

    private static func text(_ expression: ExprSyntax) throws -> String {
        guard let text = expression.as(StringLiteralExprSyntax.self)?.representedLiteralValue else { throw problem }
        return text
    }
}
#endif
