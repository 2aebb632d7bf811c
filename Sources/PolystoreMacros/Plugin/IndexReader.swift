#if Macros
internal import PolystoreSchema
internal import SwiftParser
internal import SwiftSyntax

/// Reads the indexes in the arguments of `@Model`. They must be literals, because a macro sees only their text.
enum IndexReader {
    static func indexes(of node: AttributeSyntax) throws(ModelProblem) -> [Index] {
        let arguments = node.arguments?.as(LabeledExprListSyntax.self) ?? []
        guard let argument = arguments.first(where: { $0.label?.text == "indexes" }) else { return [] }
        guard let list = argument.expression.as(ArrayExprSyntax.self) else { throw problem(argument.expression) }
        return try list.elements.map { element throws(ModelProblem) in try index(element.expression) }
    }

    private static func problem(_ expression: ExprSyntax) -> ModelProblem {
        ModelProblem(expression, "the indexes of a model must be literals, such as [Index([\"age\"], where: \"isActive == true\")]")
    }

    private static func index(_ expression: ExprSyntax) throws(ModelProblem) -> Index {
        guard let call = expression.as(FunctionCallExprSyntax.self), let first = call.arguments.first,
            let properties = first.expression.as(ArrayExprSyntax.self)
        else { throw problem(expression) }
        var index = Index(try properties.elements.map { element throws(ModelProblem) in try text(element.expression) })
        for argument in call.arguments.dropFirst() {
            switch argument.label?.text {
            case "where": index.condition = try text(argument.expression)
            case "kind":
                let name = argument.expression.as(MemberAccessExprSyntax.self)?.declName.baseName.text ?? ""
                guard let kind = Index.Kind(rawValue: name) else { throw problem(expression) }
                index.kind = kind
            default: throw problem(expression)
            }
        }
        return index
    }

    private static func text(_ expression: ExprSyntax) throws(ModelProblem) -> String {
        guard let text = expression.as(StringLiteralExprSyntax.self)?.representedLiteralValue else { throw problem(expression) }
        return text
    }
}
#endif
